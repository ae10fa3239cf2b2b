"""Commands of the feature `contests`."""
