"""API routes of the feature `messages`."""
