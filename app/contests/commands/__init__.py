"""Commands of contests."""
