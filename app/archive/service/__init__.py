"""Service of archive."""
