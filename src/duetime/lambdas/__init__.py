"""The Lambda functions: each passes an event of AWS to one step, and returns its result as a response.

Each module has ``make_handler(settings, …)``; ``functions/`` calls it once a process with the environment's
settings.
"""
