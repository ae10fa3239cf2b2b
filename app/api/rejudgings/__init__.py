"""Routes of rejudgings."""
