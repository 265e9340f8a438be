"""Compresses responses as API Gateway does: of one kibibyte or more, if the client accepts gzip."""

from __future__ import annotations

import gzip

from werkzeug.wrappers import Request, Response

SMALLEST = 1_024
"""Bytes; the stack's REST APIs have the same limit."""


def compressed(request: Request, response: Response) -> Response:
    """Return the response, with its body compressed if that is accepted."""
    body = response.get_data()
    if len(body) >= SMALLEST and request.accept_encodings["gzip"] > 0:
        response.set_data(gzip.compress(body, compresslevel=6, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
    response.vary.add("Accept-Encoding")
    return response
