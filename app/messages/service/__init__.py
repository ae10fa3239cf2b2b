"""Use cases of the feature `messages`."""
