"""The admin API: what people, services and the command line ask of a deployment over HTTP.

A request goes through `door` (who calls, and is the body fit to be read), then to its route (`scheduling`,
`background_jobs`, `job_operations`, `health`), which asks the caller's scheduler, got from the `desk`. What a client may send is
told by `requests` and `job_requests`, what it gets by `views` and `job_views`, and every refusal by `problems`.
"""

PREFIX = "/api/v1"
"""Begins every route, unless the deployment chooses another."""
