"""The event feed: a log of what the GET endpoints say, and the streams and webhooks that tell it."""
