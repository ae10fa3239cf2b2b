"""API routes of the feature `authoring`."""
