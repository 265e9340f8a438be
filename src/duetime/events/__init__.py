"""Publish lifecycle events."""
