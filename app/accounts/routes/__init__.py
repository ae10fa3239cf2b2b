"""API routes of the feature `accounts`."""
