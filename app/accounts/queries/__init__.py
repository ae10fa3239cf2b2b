"""SQL queries of the feature `accounts`."""
