"""Export or erase all that a deployment stores of one tenant."""
