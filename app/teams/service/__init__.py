"""Use cases of the feature `teams`."""
