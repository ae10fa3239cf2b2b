"""Commands of the feature `daily`."""
