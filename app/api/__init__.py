"""How programs talk to the service: one router a resource, below /api, in the words of the CLICS Contest API."""
