"""API routes of the feature `games`."""
