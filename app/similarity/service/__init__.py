"""Use cases of the feature `similarity`."""
