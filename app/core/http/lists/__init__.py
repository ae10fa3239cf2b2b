"""Replies that are whole collections: queued, cached and streamed."""
