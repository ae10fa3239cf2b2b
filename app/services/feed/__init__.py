"""The event feed: a log of what viewers see, and the publisher that keeps it."""
