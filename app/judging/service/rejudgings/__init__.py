"""Rejudgings of service."""
