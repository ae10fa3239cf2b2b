"""Resources of commands."""
