"""`jurado demo`: play a contest over HTTP and check what each step changes."""
