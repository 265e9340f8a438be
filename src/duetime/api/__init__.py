"""The admin API: the HTTP interface for people, services and the command line.

The handler in `app` normalises the event (`normalise_event`), authenticates the caller (`authenticator`),
finds the
route (`routes`), parses the body (`body`), and records changes (`audit_middleware`). The route calls the
caller's
scheduler, which `context` creates. Request bodies are in `requests`, `filters` and `job_requests`; JSON views
in the
modules named `…views`; errors in `problems`. `openapi` generates the document of all of it.
"""

PREFIX = "/api/v1"
"""The default prefix of every route."""
