"""Pages of the feature `teams`."""
