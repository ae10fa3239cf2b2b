"""Serving, health, status and metrics."""
