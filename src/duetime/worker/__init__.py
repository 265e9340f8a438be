"""Claim an action, run its handler, settle it."""
