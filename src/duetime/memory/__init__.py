"""The memory back ends: the whole scheduler in one process, for tests, simulations and ``App.embedded``."""
