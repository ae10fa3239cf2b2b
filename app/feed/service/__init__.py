"""Use cases of the feature `feed`."""
