"""Service of authoring."""
