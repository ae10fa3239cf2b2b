"""SQL queries of the feature `operations`."""
