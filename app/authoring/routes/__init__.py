"""Routes of authoring."""
