"""Commands of the feature `submissions`."""
