"""Tables of the feature `problems`."""
