"""Judging: queue, graders, workers and rejudgings."""
