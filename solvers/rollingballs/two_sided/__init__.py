"""The search on two boards: one rolled from the start, one un-rolled from the target."""
