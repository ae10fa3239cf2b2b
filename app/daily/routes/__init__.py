"""API routes of the feature `daily`."""
