"""Health of the service: its readiness, its counts, and its damaged files."""
