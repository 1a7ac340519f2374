"""The verifier network behind one small interface."""
