"""The OpenAPI document of the admin API, generated from its routes and pydantic models.

Run ``python -m duetime.api.openapi docs/openapi.json`` to generate it. The command also writes
`served.json`, which the API serves.
The modules `document` and `schemas` are imported at build time only.
Powertools' generator would lose bounds, defaults, header parameters and the docstrings of fields.
"""
