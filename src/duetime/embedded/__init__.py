"""A composition root: all steps in one process, over the memory back ends."""
