"""Database sessions, transactions, writes, locks and notifications."""
