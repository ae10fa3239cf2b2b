"""SQL queries of the feature `messages`."""
