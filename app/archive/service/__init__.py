"""Use cases of the feature `archive`."""
