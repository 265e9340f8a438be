"""The address, account and region of the local cloud."""

from __future__ import annotations

from typing import Final

HOST: Final = "127.0.0.1"
"""The local cloud runs any code without a password, so it accepts connections from this machine only."""

REGION: Final = "us-east-1"
ACCOUNT: Final = "123456789012"
"""moto's own account."""
