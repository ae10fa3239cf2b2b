"""Input and output of the feature `teams`."""
