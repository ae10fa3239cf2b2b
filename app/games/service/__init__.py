"""Service of games."""
