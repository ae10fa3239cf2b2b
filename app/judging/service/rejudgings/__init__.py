"""Rejudgings: submissions judged again, previewed, applied and undone."""
