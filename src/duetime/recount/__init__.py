"""The recount: each job's nominal times, found from its definition alone and compared with the rows.

It shares the definition with the planner, and nothing else: `pyproject.toml` lists what it must not import.
"""
