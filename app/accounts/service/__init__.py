"""Service of accounts."""
