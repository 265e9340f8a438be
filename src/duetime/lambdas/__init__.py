"""What each Lambda runs.

The event as AWS sends it becomes a call of one step, its result an answer as AWS wants it.

Each module has ``make_handler(settings, …)``; ``functions/`` calls it once per process with the environment's
settings.
"""
