"""Routes of archive."""
