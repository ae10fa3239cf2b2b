"""The `jurado` command: its entry point and the commands that need no server."""
