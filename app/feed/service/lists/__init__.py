"""Collections as JSON, rendered once for all viewers who see the same."""
