"""``duetime notifications``, against an API over a memory cloud."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.cli.arguments import CHANNELS
from duetime.cli.views import NOTIFICATION_KINDS
from duetime.ids import TenantId
from duetime.model.notification import Channel, NotificationKind
from duetime.notifications.mail.samples import sample
from duetime_contract.specimens import EXPIRY, NOON

FAILED, FAILING = NotificationKind.ACTION_FAILED, NotificationKind.RECURRING_FAILING


@pytest.fixture
def notify(inbox_ports):
    """Return a function that adds a notification to an inbox."""

    def put(kind=FAILED, minutes=0, *, tenant="acme", is_digest=False, **facts):
        made = sample(kind, is_digest=is_digest)
        notification = replace(
            made,
            id=f"{kind}-{minutes}",
            tenant_id=TenantId(tenant),
            at=NOON + timedelta(minutes=minutes),
            facts={**made.facts, **facts},
        )
        inbox_ports.inbox.add(notification, expires_at=EXPIRY)
        return notification.entry_id

    return put


def lines(printed):
    """Return the value behind each name of the output."""
    return {
        name.strip(): value
        for name, _, value in (line.strip().partition("  ") for line in printed.splitlines())
    }


class TestNotifications:
    def test_an_empty_list_is_one_line(self, duetime):
        assert duetime("notifications", "list") == (0, "no notifications\n", "")

    def test_are_listed_in_columns_with_a_command_for_the_next_page(self, duetime, notify):
        first, second = notify(type="]\x1b[31m["), notify(FAILING, 1)
        status, printed, _ = duetime("notifications", "list", "--limit", "1", "--unread", "--language", "fr")
        head, line, more = printed.splitlines()
        assert status == 0
        assert head.split() == ["ID", "SEVERITY", "KIND", "AT", "READ", "BY", "SUBJECT"]
        assert line.startswith(f"{second}  warning   jobs.recurring_failing")
        assert "échoue à répétition" in line
        assert "--unread" in more
        _, printed, _ = duetime(*more.removeprefix("more: duetime ").split())
        assert first in printed
        assert "more:" not in printed
        assert "\x1b" not in printed

    def test_are_filtered_by_kind_and_unread(self, duetime, notify):
        first, second = notify(), notify(FAILING, 1)
        assert [
            notification["id"]
            for notification in duetime.json("notifications", "list", "--kind", FAILING)["items"]
        ] == [second]
        duetime("notifications", "read", second)
        assert [
            notification["id"] for notification in duetime.json("notifications", "list", "--unread")["items"]
        ] == [first]
        _, printed, _ = duetime("notifications", "list")
        assert "  developer  " in printed.splitlines()[1]

    def test_one_is_shown_in_full_with_the_next_command(self, duetime, notify):
        one = notify(reason="no\x1b[31m bank")
        _, printed, _ = duetime("notifications", "list", one)
        assert printed.startswith(f"{one}  ")
        assert "  kind            scheduling.action_failed\n" in printed
        assert "  read by         no user\n" in printed
        assert "\n  duetime actions show " in printed
        assert "\x1b" not in printed
        duetime("notifications", "read", one, "--user", "ada")
        assert "  read by         ada, " in duetime("notifications", "list", one)[1]

    def test_a_digest_is_marked_as_one(self, duetime, notify):
        one = notify(is_digest=True)
        assert "scheduling.action_failed (digest)" in duetime("notifications", "list")[1]
        assert "scheduling.action_failed, a digest" in duetime("notifications", "list", one)[1]

    def test_are_marked_as_read_by_id_or_all_at_once(self, duetime, notify):
        made = [notify(minutes=index) for index in range(120)]
        other = notify(FAILING)
        assert duetime("notifications", "read", *made[:2]) == (0, "marked 2 as read\n", "")
        assert duetime("notifications", "read", "--all", "--kind", FAILED) == (0, "marked 118 as read\n", "")
        assert [
            notification["id"] for notification in duetime.json("notifications", "list", "--unread")["items"]
        ] == [other]
        assert duetime.json("notifications", "read", "--all") == {"read": 1}
        assert duetime("notifications", "read", "--all") == (0, "nothing was unread\n", "")

    def test_an_unknown_id_marks_nothing_as_read(self, duetime, notify):
        one = notify()
        status, _, errors = duetime("notifications", "read", one, "n.1")
        assert (status, errors) == (1, "duetime: there is no notification 'n.1'\n")
        assert duetime.json("notifications", "list", one)["read_at"] is None

    def test_the_system_option_selects_the_deployments_own(self, duetime, notify):
        one = notify(NotificationKind.UNDELIVERED, tenant="system")
        assert duetime("notifications", "list") == (0, "no notifications\n", "")
        assert one in duetime("notifications", "list", "--system")[1]
        assert one in duetime("notifications", "list", one, "--system")[1]
        assert duetime("notifications", "read", one, "--system")[1] == "marked 1 as read\n"
        assert duetime("notifications", "read", "--all", "--system")[1] == "nothing was unread\n"

    @pytest.mark.parametrize(
        "words",
        [
            ("read",),
            ("read", "n.1", "--all"),
            ("read", "n.1", "--kind", FAILED),
            ("list", "--kind", "strange"),
            (),
        ],
    )
    def test_bad_usage_is_printed_on_one_line(self, duetime, words):
        status, _, errors = duetime("notifications", *words)
        assert status == 2
        assert len(errors.splitlines()) == 1

    def test_an_unknown_kind_is_rejected_with_those_allowed(self, duetime):
        _, _, errors = duetime("notifications", "list", "--kind", "strange")
        assert all(kind in errors for kind in NotificationKind)


class TestPreferences:
    def test_show_the_default_channels_of_each_kind(self, duetime):
        status, printed, _ = duetime("notifications", "preferences")
        assert status == 0
        shown = lines(printed)
        assert (shown["language"].strip(), shown["changed by"].strip()) == ("en", "no user")
        assert (shown["mails to"].strip(), shown["admins' to"].strip()) == ("none", "none")
        assert "scheduling.dead_lettered   in_app  (default)" in printed
        assert "jobs.recurring_failing     nowhere  (default)" in printed

    def test_are_set_and_other_values_stay_unchanged(self, duetime):
        status, printed, _ = duetime(
            "notifications",
            "preferences",
            *("--language", "de-AT"),
            *("--email", "a@acme.example", "--email", "b@acme.example"),
            *("--admin-email", "root@acme.example"),
            *("--channel", f"{FAILING}=email,in_app", "--channel", "scheduling.dead_lettered=none"),
        )
        assert status == 0
        assert "language    de-AT, which has no texts; mails are in en" in printed
        assert "mails to    a@acme.example, b@acme.example" in printed
        assert f"{FAILING}     email, in_app  (this deployment has no email)" in printed
        assert "scheduling.dead_lettered   nowhere\n" in printed
        duetime("notifications", "preferences", "--channel", "scheduling.dead_lettered=default")
        chosen = duetime.json("notifications", "preferences")
        assert chosen["channels"] == {FAILING: ["email", "in_app"]}
        assert (chosen["addresses"], chosen["changed_by"]) == (
            ["a@acme.example", "b@acme.example"],
            "developer",
        )

    def test_email_none_removes_all_addresses(self, duetime):
        duetime("notifications", "preferences", "--email", "a@acme.example")
        chosen = duetime.json("notifications", "preferences", "--email", "none")
        assert chosen["addresses"] == []

    def test_of_the_system_are_selected_by_an_option(self, duetime):
        assert duetime.json("notifications", "preferences", "--system", "--language", "fr")["revision"] == 1
        assert duetime.json("notifications", "preferences")["revision"] == 0
        assert duetime.json("notifications", "preferences", "--system")["mails_in"] == "fr"

    def test_with_an_invalid_address_are_rejected_with_an_example(self, duetime):
        status, _, errors = duetime("notifications", "preferences", "--email", "ada")
        assert status == 1
        assert "'ada' is no mail address; write it as in ada@example.com" in errors

    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            (("--channel", "strange=email"), "use one of scheduling.action_failed"),
            (("--channel", f"{FAILING}=pigeon"), "'pigeon' is not a channel; use some of email, sns, in_app"),
            (("--channel", f"{FAILING}="), "is not a channel"),
            (("--channel", FAILING), "is not a channel"),
            (("--email", "none", "--email", "a@acme.example"), "leave it out"),
        ],
    )
    def test_bad_usage_is_printed_on_one_line_with_the_allowed_values(self, duetime, words, expected):
        status, _, line = duetime("notifications", "preferences", *words)
        assert status == 2
        assert expected in line
        assert len(line.splitlines()) == 1


def test_the_options_take_every_kind_and_channel():
    assert set(NOTIFICATION_KINDS) == {kind.value for kind in NotificationKind}
    assert set(CHANNELS) == {channel.value for channel in Channel}
