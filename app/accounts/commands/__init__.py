"""Commands of the feature `accounts`."""
