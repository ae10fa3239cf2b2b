"""The commands of contestants, over HTTP."""
