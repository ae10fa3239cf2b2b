"""Package_Serve of commands."""
