"""Who is notified in a world whose events are published, and by which settings."""

from dataclasses import replace
from random import Random

from duetime.model.notification import Channel, NotificationKind
from duetime.model.preferences import Preferences

ALL = frozenset(Channel)
CHOSEN = Preferences(
    tenant_id="acme",
    channels={NotificationKind.ACTION_FAILED: ALL, NotificationKind.RECURRING_FAILING: ALL},
    addresses=("ada@example.com", "ben@example.com"),
    admin_addresses=("eve@example.com",),
)
"""Other tenants have the defaults: a list for their admins."""


def subscribe(event_path):
    assert event_path.preferences.put(CHOSEN)


class NotificationLimits:
    """Draws the limits apart from the world's other policies."""

    def __init__(self, seed):
        self.draw = Random(f"notifications {seed}")  # noqa: S311 - the same limits for the same seed

    def in_settings(self, settings):
        """The settings with another limit: some digests are small."""
        return replace(settings, notification_burst=self.draw.choice([1, 2, 5]))
