"""Service of problems."""
