"""Pages of the feature `messages`."""
