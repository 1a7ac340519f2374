"""The gateway: its routes, the upstream client, and streams that hold back what is not checked. Wire formats are in
`assay.wire`, a file each; `targets.py` maps paths to formats."""
