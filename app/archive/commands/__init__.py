"""Commands of the feature `archive`."""
