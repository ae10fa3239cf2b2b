"""SQL queries of the feature `archive`."""
