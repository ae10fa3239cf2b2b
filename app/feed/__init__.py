"""The event feed, its streams and webhooks."""
