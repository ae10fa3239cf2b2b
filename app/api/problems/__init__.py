"""Routes of problems."""
