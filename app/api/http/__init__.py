"""What every route shares: errors, authentication, forms, limits, middleware and the description of the API."""
