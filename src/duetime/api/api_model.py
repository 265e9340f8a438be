"""The base of the API's models."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class ApiModel(BaseModel):
    """A model whose validator is built at its first use: a cold start builds those of its request alone."""

    model_config = ConfigDict(defer_build=True)
