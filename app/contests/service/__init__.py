"""Use cases of the feature `contests`."""
