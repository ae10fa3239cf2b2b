"""Whole collections as JSON, written once for all who see the same."""
