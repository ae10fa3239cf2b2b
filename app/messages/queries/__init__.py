"""Queries of messages."""
