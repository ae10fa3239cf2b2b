"""SQL queries of the feature `feed`."""
