"""Everything that `deploy/compose.yaml` says, started for real and played with as its guides say: `make containers`."""
