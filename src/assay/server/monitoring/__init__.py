"""The monitor over the record: runs, the budget, and the routes `/v1/changes` and `/v1/monitor`."""
