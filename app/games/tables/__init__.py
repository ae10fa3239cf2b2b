"""Tables of the feature `games`."""
