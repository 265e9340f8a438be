"""The admin API: the HTTP interface for people, services and the command line.

The handler in `app` normalises the event and parses its body (`gateway_event`), authenticates the caller
(`authenticator`), finds the route (`routes`), and records changes (`audit_middleware`). Powertools validates
the parameters and calls the route. The route calls the caller's scheduler, which `context` creates.

`routes.GROUPS` lists where all routes are. Request bodies are in `requests`, `filters` and `job_requests`.
The JSON views of actions are in `views`, those of jobs in `job_views`, others beside their routes: `View.of`
fills a view from what it shows. `problems` has the HTTP form of errors, and `openapi` generates the document.
"""

PREFIX = "/api/v1"
"""The default prefix of every route."""
