"""Apps for the tests of bundling: one that is right, and some that are not."""
