"""The gateway: one file per wire format, the upstream client, and the stream that holds back what is not checked."""
