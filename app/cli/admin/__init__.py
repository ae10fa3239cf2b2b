"""The commands of admins and judges, over HTTP."""
