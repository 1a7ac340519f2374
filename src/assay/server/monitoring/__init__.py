"""The monitor over the record: its turns, the error budget, and the routes `/v1/changes` and `/v1/monitor`."""
