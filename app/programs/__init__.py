"""Programs that come with packages: what they are, how they are compiled, and how each protocol asks a checker."""
