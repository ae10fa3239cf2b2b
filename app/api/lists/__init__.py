"""Collections written once for each version of what a kind of viewer sees, and sent in slices that all share."""
