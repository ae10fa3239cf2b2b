"""Commands of the feature `problems`."""
