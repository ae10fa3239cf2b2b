"""Service of daily."""
