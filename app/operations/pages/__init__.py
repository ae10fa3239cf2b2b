"""Pages of the feature `operations`."""
