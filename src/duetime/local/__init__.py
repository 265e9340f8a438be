"""The local cloud: the embedded engine with the API, the console and an outbox on one port.

It needs the extra ``duetime[local]``. Read `cloud` first: it shows how the parts are connected.
"""

from __future__ import annotations

from duetime.local.cloud import LocalCloud
from duetime.local.options import LocalOptions

__all__ = ["LocalCloud", "LocalOptions"]
