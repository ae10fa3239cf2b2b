"""Distributed of service."""
