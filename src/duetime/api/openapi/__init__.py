"""The OpenAPI document of the admin API, generated from its routes and pydantic models.

Run ``python -m duetime.api.openapi docs/openapi.json`` to generate it. The command also writes `FILE`,
which the API serves.
The modules `document`, `parameters`, `responses` and `schemas` are imported at build time only.
"""

from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_name("served.json")
"""The document as the API serves it, without line breaks."""
