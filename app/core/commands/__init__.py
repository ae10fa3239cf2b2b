"""What all commands share: HTTP client, output, options and progress."""
