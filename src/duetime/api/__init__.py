"""The admin API: what people, services and the command line ask of a deployment over HTTP.

A request goes through `door`: `authority` says who calls and what that one may do, `recorder` keeps what is to be changed. Then
it goes to its route (`scheduling`, `many`, `background_jobs`, `job_operations`, `undelivered`, `access`, `health`), which asks
the caller's scheduler, got from the `api`. What a client may send is told by `requests`, `filters` and `job_requests`, what it
gets by `views` and `job_views`, every refusal by `problems`, and all of it together by `openapi`.
"""

PREFIX = "/api/v1"
"""Begins every route, unless the deployment chooses another."""
