"""Judging on many machines: a broker queues judgements, workers judge them."""
