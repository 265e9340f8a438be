"""Plan, maintain, reconcile, operate and explain recurring jobs."""
