"""Commands of the feature `games`."""
