"""Commands of the feature `authoring`."""
