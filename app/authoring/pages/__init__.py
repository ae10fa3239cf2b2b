"""Pages of the feature `authoring`."""
