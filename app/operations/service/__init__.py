"""Use cases of the feature `operations`."""
