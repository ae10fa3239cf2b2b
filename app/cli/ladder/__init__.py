"""`jurado ladder`: every method of a problem on every test case, under the problem's own limits."""
