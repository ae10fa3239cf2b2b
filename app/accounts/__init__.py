"""Accounts, sessions, tokens, registration, roles and the audit log."""
