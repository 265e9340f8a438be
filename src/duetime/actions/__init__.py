"""Look up, search, change and cancel actions, one or many."""
