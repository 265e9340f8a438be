"""Hostile facts appear in a mail unchanged, and change nothing else in it."""

import json
import re
from dataclasses import replace
from html import unescape

from hypothesis import example, given
from hypothesis import strategies as st

from duetime.model.notification import NotificationKind
from duetime.notifications.mail import mail_of, words
from duetime.notifications.mail.message import steps_of
from duetime.notifications.mail.samples import sample
from duetime.notifications.mail.shape import path
from tests.facts.mails import FAILED, PLAIN, WITH_CONSOLE, Page, each_mail, received_mail, with_facts


class TestHostileValues:
    @given(st.text(st.characters(codec=None), max_size=700))
    @example("<script>alert(1)</script>")
    @example("</dd></dl><a href='https://evil.example'>")
    @example("{{tenant}} {{{tenant}}} {{#each}}")
    @example("first\r\nBcc: eve@evil.example\n\n.")
    @example("abc\u202egpj.exe\u2066")
    @example("x" * 10_000)
    @example("\ud800")
    @example("&lt;b&gt;")
    def test_value_appears_on_one_line_and_changes_nothing_else(self, value):
        hostile = with_facts(reason=value, type=value, correlation_id=value)
        made, usual = received_mail(hostile), received_mail(FAILED)
        mail = mail_of(hostile, address="ada@acme.example", language="en", settings=PLAIN)
        reason = mail.data["reason"]
        assert Page(made.html).elements == Page(usual.html).elements
        assert unescape(mail.data["reason_html"]) == reason
        assert f"Reason: {reason}\n" in made.text
        assert reason in Page(made.html).words
        assert len(made.text.splitlines()) == len(usual.text.splitlines())
        assert len(reason) <= 500
        assert len(made.subject) <= 100
        assert not re.search(
            "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", made.subject + reason
        )
        json.dumps(dict(mail.data)).encode()
        made.text.encode()

    def test_braces_in_a_value_are_not_rendered(self):
        made = received_mail(with_facts(reason="{{tenant}} {{id_html}}"))
        assert "Reason: {{tenant}} {{id_html}}" in made.text
        assert "{{tenant}} {{id_html}}" in made.html

    def test_markup_is_shown_as_text(self):
        assert "&lt;script&gt;" in received_mail(with_facts(reason="<script>")).html

    @each_mail
    def test_subject_is_truncated_between_words(self, notification, language):
        facts = dict.fromkeys(notification.facts, "x" * 600) | {"by_name": {"x" * 600: 1}, "total": 1_000}
        long = replace(notification, tenant_id="t" * 600, facts=facts)
        subject = received_mail(long, language).subject
        where = path(notification.kind, is_digest=notification.is_digest)
        assert len(subject) <= 100
        assert subject.endswith(words.words_in(language)[f"{where}.subject"].rpartition("}}")[2])

    def test_id_is_one_argument_of_command(self):
        assert steps_of(with_facts(id="a; rm -rf ~"))["look"] == "duetime actions show 'a; rm -rf ~'"

    def test_id_is_one_segment_of_url(self):
        made = received_mail(with_facts(id='a"/b c'), "en", WITH_CONSOLE)
        assert "https://console.example.com/#/actions/a%22%2Fb%20c" in made.text

    def test_digest_of_hostile_names_has_one_line_per_name(self):
        digest = with_facts(
            sample(NotificationKind.ACTION_FAILED, is_digest=True), by_name={"<b>\nx": 2, "": 1, "y" * 999: 1}
        )
        made = received_mail(digest)
        assert "2 × <b> x\n1 × not known\n1 × yyy" in made.text
        assert "2 × &lt;b&gt; x<br>1 × not known<br>" in made.html
