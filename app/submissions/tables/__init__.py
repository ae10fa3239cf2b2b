"""Tables of the feature `submissions`."""
