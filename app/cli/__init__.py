"""The command `jurado`: local work, the service, and clients that talk to it over HTTP."""
