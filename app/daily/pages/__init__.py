"""Pages of the feature `daily`."""
