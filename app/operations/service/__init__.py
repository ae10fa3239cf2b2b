"""Service of operations."""
