"""Input and output of the feature `accounts`."""
