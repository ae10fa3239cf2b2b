"""HTTP routes and the WebSocket of games against the judge."""
