"""Use cases of the feature `problems`."""
