"""Routes of contests."""
