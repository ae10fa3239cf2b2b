"""Commands of messages."""
