"""Routes of daily."""
