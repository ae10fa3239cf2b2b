"""Pages of the feature `contests`."""
