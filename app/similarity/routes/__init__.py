"""API routes of the feature `similarity`."""
