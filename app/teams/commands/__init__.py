"""Commands of the feature `teams`."""
