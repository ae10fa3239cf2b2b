"""Commands of the feature `operations`."""
