"""Content-addressed files in a local folder or on S3."""
