"""Lists of service."""
