"""Commands of the feature `judging`."""
