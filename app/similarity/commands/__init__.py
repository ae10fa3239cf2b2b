"""Commands of the feature `similarity`."""
