"""API routes of the feature `operations`."""
