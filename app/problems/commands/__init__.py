"""Commands of problems."""
