"""Accept and store submissions, and report on them."""
