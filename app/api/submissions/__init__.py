"""Routes of submissions, judgements and runs."""
