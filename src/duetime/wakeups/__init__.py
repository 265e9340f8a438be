"""Code that only sends wake-ups: arm, dispatch, sweep, deep sweep and wheel."""
