"""Pages of the feature `submissions`."""
