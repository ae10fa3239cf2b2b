"""SQL queries of the feature `contests`."""
