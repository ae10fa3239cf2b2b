"""Use cases of the feature `accounts`."""
