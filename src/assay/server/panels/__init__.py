"""What changes over time: panels over sketches, the six watched metrics, alerts, and the routes that serve them."""
