"""The stack of this deployment. Its parts are in `duetime.cdk`."""
