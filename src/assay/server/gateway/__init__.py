"""The gateway: routes, the upstream client, and the stream that holds back what is not checked. Wire formats are in
`assay.wire`, a file each; `targets.py` says which path speaks which."""
