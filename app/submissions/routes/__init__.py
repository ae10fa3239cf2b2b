"""API routes of the feature `submissions`."""
