"""Sources that contradict each other, and sources that are out of use because others replace them."""
