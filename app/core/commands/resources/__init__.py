"""Types of replies, one module per resource."""
