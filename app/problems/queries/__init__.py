"""SQL queries of the feature `problems`."""
