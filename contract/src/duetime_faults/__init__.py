"""The faults of a simulated cloud: its functions run in processes, which crash, pause and lose messages.

`duetime.testing.SimulatedCloud` uses it, if it is given `faults`.
"""
