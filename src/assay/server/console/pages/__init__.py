"""The pages of the console, a file each."""
