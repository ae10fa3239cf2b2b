"""Demo of commands."""
