"""Pages of authoring."""
