"""What all pages share: frame, forms, languages, templates and static files."""
