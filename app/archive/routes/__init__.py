"""API routes of the feature `archive`."""
