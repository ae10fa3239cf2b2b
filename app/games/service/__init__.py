"""Use cases of the feature `games`."""
