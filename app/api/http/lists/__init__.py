"""Replies that are lists: written once a version of a contest, cached, and sent to all who ask."""
