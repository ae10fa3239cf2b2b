"""Problem packages of other judges, read into the files of a Jurado package, and written from one."""
