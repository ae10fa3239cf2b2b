"""Commands of archive."""
