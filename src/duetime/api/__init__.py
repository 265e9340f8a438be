"""The admin API: the HTTP interface for people, services and the command line.

The handler in `app` normalises the event (`normalise_event`), authenticates the caller (`authenticator`),
finds the route (`routes`), parses the body (`body`), and records changes (`audit_middleware`). Powertools
validates the parameters and calls the route. The route calls the caller's scheduler, which `context` creates.

Request bodies are in `requests`, `filters` and `job_requests`. JSON views of actions and jobs are in the
modules named `…views`, other views beside their routes. Errors are in `problems`. `openapi` generates the
document.
"""

PREFIX = "/api/v1"
"""The default prefix of every route."""
