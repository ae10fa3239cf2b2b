"""Pages of the feature `accounts`."""
