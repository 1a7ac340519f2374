"""The wire formats: one module for each, all behind the Protocol `assay.wire.interface.Wire`."""
