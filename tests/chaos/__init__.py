"""Chaos: the deployed steps as processes, under faults, over Amazon's DynamoDB Local.

`python -m tools chaos` runs it.

`world` runs one seed: it starts the processes, kills and freezes them, and puts `proxy` before the table.
The processes record each call of the stores; `checks` and `linearizability` judge the records afterwards.
"""
