"""A conformance suite of cron expressions, time zones and clock changes, for any library in any language.

``python -m tests.conformance COMMAND`` runs COMMAND as an adapter. See ``README.md`` in this folder.
"""
