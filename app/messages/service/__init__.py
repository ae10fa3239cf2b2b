"""Service of messages."""
