"""SQL queries of the feature `submissions`."""
