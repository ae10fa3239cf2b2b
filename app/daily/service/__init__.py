"""Use cases of the feature `daily`."""
