"""SQL queries of the feature `teams`."""
