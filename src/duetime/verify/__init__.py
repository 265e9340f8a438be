"""Verify a deployment end to end: schedule probes through its API, and judge their runs."""
