"""Pages of the feature `problems`."""
