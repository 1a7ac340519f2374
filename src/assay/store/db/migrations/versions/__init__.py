"""One file for each change of the tables; a released migration is never changed."""
