"""API routes of the feature `feed`."""
