"""Commands of authoring."""
