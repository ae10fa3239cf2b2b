"""API routes of the feature `judging`."""
