"""Pages of the feature `games`."""
