"""Upper bounds on the points of an instance."""
