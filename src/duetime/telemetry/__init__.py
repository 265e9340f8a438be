"""Logs, counters and spans for the transitions of actions."""
