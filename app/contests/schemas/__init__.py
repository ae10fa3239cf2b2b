"""Input and output of the feature `contests`."""
