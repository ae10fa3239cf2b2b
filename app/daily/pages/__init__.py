"""Pages of daily."""
