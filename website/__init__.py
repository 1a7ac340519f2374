"""The site of the documentation, built from `docs/`, the README and the docstrings: `make docs`."""
