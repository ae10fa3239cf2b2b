"""`jurado play` and `jurado tournament`: games between people, programs and the opponents of the catalogue."""
