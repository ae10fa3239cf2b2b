"""Schemas of accounts."""
