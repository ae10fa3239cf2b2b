"""API routes of the feature `contests`."""
