"""Commands of daily."""
