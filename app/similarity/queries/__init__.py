"""SQL queries of the feature `similarity`."""
