"""SQL queries of the feature `judging`."""
