"""The packages that `jurado package new` makes: small whole problems, one for each kind of checker, to be changed."""
