"""The sessions of clients: boto3's default one, or one of botocore in a process that has not imported boto3.

boto3 takes a tenth of the start of a Lambda function, and duetime's clients need nothing of it.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from functools import lru_cache
from importlib import import_module
from typing import Any

from botocore.exceptions import DataNotFoundError
from botocore.loaders import Loader
from botocore.session import Session, get_session


def default_session() -> Any:
    """Return boto3's default session, made if there is none; without boto3, botocore's."""
    if "boto3" not in sys.modules:
        return _own_session()
    boto3: Any = import_module("boto3")  # another thread's import that has begun is waited for
    if boto3.DEFAULT_SESSION is None:
        boto3.DEFAULT_SESSION = boto3.Session(botocore_session=_new_session())
    return boto3.DEFAULT_SESSION


def create_client(session: Any, service: str, **options: Any) -> Any:
    """Return a new client of a session of boto3 or botocore."""
    create = session.create_client if isinstance(session, Session) else session.client
    return create(service, **options)


def _new_session() -> Session:
    session = get_session()
    standard = session.get_component("data_loader")
    session.register_component(
        "data_loader", ModelLoader(standard.search_paths, include_default_search_paths=False)
    )
    return session


_own_session = lru_cache(maxsize=1)(_new_session)

_LOADED: ContextVar[str | None] = ContextVar("duetime_loaded_model", default=None)


class ModelLoader(Loader):
    """Loads a service's model without looking for those of 400 others, which takes longer than the model."""

    def load_service_model(self, service_name: str, type_name: str, api_version: str | None = None) -> Any:
        """Return the model. For a service without one, botocore raises an error that lists the others."""
        try:
            self.list_api_versions(service_name, type_name)
        except DataNotFoundError:
            return super().load_service_model(service_name, type_name, api_version)
        token = _LOADED.set(service_name)
        try:
            return super().load_service_model(service_name, type_name, api_version)
        finally:
            _LOADED.reset(token)

    def list_available_services(self, type_name: str) -> list[str]:
        """Return all services that have a model; while one is loaded, that one."""
        loaded = _LOADED.get()
        return super().list_available_services(type_name) if loaded is None else [loaded]
