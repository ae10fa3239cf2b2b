"""What all routes share: authentication, forms, errors, limits and middleware."""
