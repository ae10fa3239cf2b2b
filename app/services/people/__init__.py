"""Accounts, teams, persons, organizations and groups."""
