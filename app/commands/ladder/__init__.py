"""`jurado ladder`: run every method of a problem on every test case."""
