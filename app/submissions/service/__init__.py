"""Service of submissions."""
