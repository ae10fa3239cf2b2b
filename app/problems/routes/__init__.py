"""API routes of the feature `problems`."""
