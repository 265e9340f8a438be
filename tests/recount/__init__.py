"""Tests of the recount: its own times, and what it finds."""
