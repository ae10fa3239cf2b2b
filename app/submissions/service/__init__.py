"""Use cases of the feature `submissions`."""
