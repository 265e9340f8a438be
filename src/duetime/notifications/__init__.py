"""Notify people of failures: recipients, channels and mail."""
