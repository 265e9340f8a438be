"""Inputs that AWS gave up delivering: keep them, show them, redrive them."""
