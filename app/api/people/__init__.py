"""Routes of accounts, teams, persons, organizations and groups."""
