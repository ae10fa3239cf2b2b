"""Tables of the feature `contests`."""
