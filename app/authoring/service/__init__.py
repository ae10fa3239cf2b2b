"""Use cases of the feature `authoring`."""
