"""This deployment: what is in the stack. What each part is, is in `duetime.cdk`."""
