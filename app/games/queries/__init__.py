"""SQL queries of the feature `games`."""
