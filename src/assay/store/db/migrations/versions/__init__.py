"""One file for each change of the tables; what is released is never changed."""
