"""Use cases of the feature `judging`."""
