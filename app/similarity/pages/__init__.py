"""Pages of the feature `similarity`."""
