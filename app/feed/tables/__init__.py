"""Tables of the feature `feed`."""
