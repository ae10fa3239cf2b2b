"""Judging on many machines: servers send news of rows to a broker, and workers judge them."""
