"""Upload and change problems: packages, test cases, versions, reference runs."""
