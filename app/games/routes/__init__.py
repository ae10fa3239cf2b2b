"""Routes of games."""
