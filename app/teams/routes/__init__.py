"""API routes of the feature `teams`."""
