"""Pages of the feature `judging`."""
