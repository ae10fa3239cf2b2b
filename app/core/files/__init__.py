"""Files of core."""
