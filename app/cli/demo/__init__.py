"""`jurado demo`: a whole contest played through HTTP, and a board computed apart to hold the service's against."""
