"""Service of contests."""
