"""Commands of the feature `messages`."""
