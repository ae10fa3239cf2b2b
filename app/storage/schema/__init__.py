"""The tables by room; `app.storage.tables` lists them all."""
