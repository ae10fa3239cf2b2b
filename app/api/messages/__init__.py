"""Routes of clarifications and commentary."""
