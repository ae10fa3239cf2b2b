"""Tables of the feature `accounts`."""
