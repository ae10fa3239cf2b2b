"""`jurado demo`: play a contest over HTTP and check its scoreboard."""
