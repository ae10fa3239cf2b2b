"""Problems: packages, statements, test cases, and their place in a contest."""
