"""Webhooks: signed, to public addresses only, with the receiver's status as the policy."""

import ipaddress
import json
import socket
import ssl
import sys
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import boto3
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from standardwebhooks.webhooks import Webhook as Verifier

from duetime import App, Retry
from duetime.aws import target_calls
from duetime.clock import SystemClock
from duetime.errors import DeclarationError, InvalidPayload
from duetime.targets import Webhook, WebhookHost, with_targets
from duetime.targets.addresses import AddressForbidden, is_public
from duetime.targets.grants import Grants
from duetime.targets.handlers import target_app
from duetime.targets.webhooks import LARGEST_ANSWER, HttpAnswer, HttpPost, judge, message_id
from duetime.testing import SimulatedCloud
from tests.cases import for_each

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
NOW = datetime(2027, 1, 1, tzinfo=UTC)
HOST = "hooks.acme.example"


def cloud_to(receiver, **grant):
    host = WebhookHost(host=HOST, deliver_to=receiver.url, **grant)
    return SimulatedCloud(with_targets(App(), [host]), start=SystemClock().now())


def ended(cloud, body=None, *, url=f"https://{HOST}/orders?x=1", hours=1):
    action = cloud.scheduler.schedule(Webhook(url=url, body=body), at=timedelta(0))
    cloud.advance(hours=hours)
    return cloud.scheduler.get(action.id)


def test_a_webhook_is_signed_and_its_id_is_the_actions(receiver, monkeypatch):
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    cloud = cloud_to(receiver, secret="env:HOOK_SECRET")
    action = ended(cloud, {"order": "ä"})
    assert action.status == "executed"
    [(path, headers, body)] = receiver.requests
    assert path == "/orders?x=1"
    assert headers["Host"] == HOST
    assert headers["webhook-id"] == action.id
    assert Verifier(SECRET).verify(body, headers) == {"order": "ä"}


def test_while_a_secret_is_rotated_a_receiver_may_have_either(receiver, monkeypatch):
    monkeypatch.setenv("HOOK_SECRET", f"{SECRET} {OTHER}")
    ended(cloud_to(receiver, secret="env:HOOK_SECRET"), 1)
    [(_, headers, body)] = receiver.requests
    assert Verifier(SECRET).verify(body, headers) == Verifier(OTHER).verify(body, headers) == 1


@pytest.mark.parametrize("kind", ["secretsmanager", "ssm"])
def test_a_secret_is_read_by_reference(receiver, mocked_aws, kind):
    if kind == "ssm":
        ssm = boto3.client("ssm")
        ssm.put_parameter(Name="/hooks/acme", Value=SECRET, Type="SecureString")
        reference = ssm.get_parameter(Name="/hooks/acme")["Parameter"]["ARN"]
    else:
        reference = boto3.client("secretsmanager").create_secret(Name="hook", SecretString=SECRET)["ARN"]
    assert ended(cloud_to(receiver, secret=reference), 1).status == "executed"
    [(_, headers, body)] = receiver.requests
    assert Verifier(SECRET).verify(body, headers) == 1


@pytest.mark.parametrize("secret", ["", "whsec_tooShort", "whsec_ä" + "A" * 40, "not base64!" * 5])
def test_a_secret_that_cannot_sign_fails_the_action_without_showing_it(receiver, monkeypatch, secret):
    monkeypatch.setenv("HOOK_SECRET", secret)
    action = ended(cloud_to(receiver, secret="env:HOOK_SECRET"))
    assert (action.status, action.attempt, receiver.requests) == ("failed", 1, [])
    assert "HOOK_SECRET" in action.attempts[-1].message or "cannot sign" in action.attempts[-1].message
    assert not secret or secret not in action.attempts[-1].message


@pytest.mark.parametrize("status", [408, 425, 429, 500, 503, 599])
def test_a_busy_receiver_gets_it_again_with_the_same_id(receiver, status):
    receiver.answers = [(status, {"Retry-After": "120"}, b"busy")]
    action = ended(cloud_to(receiver))
    assert (action.status, action.attempt) == ("executed", 2)
    first, second = action.attempts
    assert f"{HOST} responded {status}: busy" in first.message
    assert second.started_at - first.finished_at == pytest.approx(
        timedelta(seconds=120), abs=timedelta(seconds=1)
    )
    assert len({headers["webhook-id"] for _, headers, _ in receiver.requests}) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 404, 409, 410, 422])
def test_a_receiver_that_rejects_it_gets_it_once(receiver, status):
    receiver.answers = [(status, {"Location": receiver.url + "/elsewhere"}, b"no")]
    action = ended(cloud_to(receiver), hours=100)
    assert (action.status, action.attempt, len(receiver.requests)) == ("failed", 1, 1)
    assert f"responded {status}" in action.attempts[-1].message


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_every_status_of_success_ends_the_action(status):
    judge(HttpAnswer(status, None, b""), HOST, NOW)


@pytest.mark.parametrize(
    ("given", "after"),
    [
        (None, None),
        ("soon", None),
        ("-5", None),
        ("0", timedelta(seconds=1)),
        ("90", timedelta(seconds=90)),
        ("9" * 30, timedelta(days=90)),
        (format_datetime(NOW + timedelta(minutes=5), usegmt=True), timedelta(minutes=5)),
        (format_datetime(NOW - timedelta(minutes=5), usegmt=True), timedelta(seconds=1)),
    ],
)
def test_retry_after_is_read_and_bounded(given, after):
    with pytest.raises(Retry) as raised:
        judge(HttpAnswer(503, given, b""), HOST, NOW)
    assert raised.value.after == after


def test_a_receiver_that_does_not_respond_gets_it_again(receiver):
    receiver.close()
    action = ended(cloud_to(receiver), hours=0)
    assert (action.status, action.attempt) == ("pending", 1)
    assert "ConnectionRefusedError" in action.attempts[-1].message


def test_a_large_response_is_read_in_part(receiver):
    receiver.answers = [(400, {}, b"x" * (LARGEST_ANSWER + 1_000_000))]
    posted = HttpPost(SystemClock())(f"https://{HOST}/", b"", {}, receiver.address)
    assert len(posted.body) == LARGEST_ANSWER


class FastClock(SystemClock):
    """A clock by which a request's time is over in a moment."""

    def __init__(self):
        self.calls = 0

    def elapsed(self):
        self.calls += 1
        return 0.0 if self.calls == 1 else 19.8


def test_a_response_that_trickles_ends_with_its_time():
    server, stop = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def trickle():
        connected, _ = server.accept()
        with connected:
            connected.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while not stop.wait(0.02):
                try:
                    connected.sendall(b".")
                except OSError:
                    return

    thread = threading.Thread(target=trickle)
    thread.start()
    try:
        with pytest.raises(TimeoutError, match="no response within 20 s"):
            HttpPost(FastClock())(f"https://{HOST}/", b"", {}, server.getsockname())
    finally:
        stop.set()
        thread.join()
        server.close()


PRIVATE = [
    "127.0.0.1",
    "127.1.2.3",
    "0.0.0.0",  # noqa: S104 - nothing is bound
    "10.0.0.1",
    "172.16.5.4",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe",
    "::ffff:8.8.8.8",
    "::ffff:0:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
]


@for_each("address", PRIVATE)
def test_a_name_that_resolves_to_a_private_address_fails_for_good_and_nothing_is_sent(address):
    connected = []

    def lookup(host, port, **_):
        return [(0, 0, 0, "", ("93.184.215.14", port)), (0, 0, 0, "", (address, port))]

    post = HttpPost(SystemClock(), lookup=lookup, connect=lambda *given, **_: connected.append(given))
    grants = Grants.of_all([f"https://{HOST}"])
    cloud = SimulatedCloud(App().extended(target_app(grants, post=post)))
    action = ended(cloud, hours=100)
    assert (action.status, action.attempt, connected) == ("failed", 1, [])
    assert f"{HOST} resolves to {address}, which is not public" in action.attempts[-1].message


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.215.14", "2606:4700:4700::1111"])
def test_a_public_address_is_allowed(address):
    assert is_public(address)


@for_each(
    "url",
    [
        "https://169.254.169.254/latest/meta-data",
        "https://localhost/",
        "https://LOCALHOST./",
        "https://a.localhost/",
        "https://127.1/",
        "https://2852039166/",
        "https://0xa9fea9fe/",
        "https://0251.0376.0251.0376/",
        "https://169.254.169.254./",
        "https://[::1]/",
        "https://[::ffff:169.254.169.254]/",
        "https://[fd00:ec2::254]/",
        "https://[64:ff9b::a9fe:a9fe]/",
        "https://metadata.google.internal/",
        "https://printer.local/",
        "https://intranet/",
        "https://hooks.acme.example@169.254.169.254/",
        "https://hooks.acme.example\\@169.254.169.254/",
        "https://hooks.acme.example:99999/",
        "https://hooks.acme.example:0/",
        "https://hooks.acme.example/#part",
        "https://hooks.acme.example/a b",
        "https://hooks.acme.example/\r\nX: y",
        "https://１６９.254.169.254/",
        "https://",
        "http://hooks.acme.example/",
        "file:///etc/passwd",
        "//hooks.acme.example/",
    ],
)
def test_a_url_that_is_not_of_a_public_name_is_rejected_when_it_is_scheduled(url):
    with pytest.raises(InvalidPayload, match=r"allowed is|remove them|encode them"):
        Webhook.from_json(json.dumps({"url": url, "body": None}))


@pytest.mark.parametrize(
    "host",
    ["localhost", "169.254.169.254", "[::1]", "intranet", "a.example/path", "a.example:80/x", "u@a.example"],
)
def test_such_a_host_is_not_granted_either(host):
    with pytest.raises(DeclarationError, match="cannot be granted"):
        WebhookHost(host=host)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"secret": "whsec_abc"}, "is no reference; allowed is env:NAME"),
        ({"deliver_to": "https://169.254.169.254"}, "allowed is such as http://127.0.0.1:9000"),
    ],
)
def test_a_grant_with_a_secret_itself_or_a_bad_address_is_rejected(options, problem):
    with pytest.raises(DeclarationError, match=problem):
        WebhookHost(host=HOST, **options)


@pytest.mark.parametrize("url", ["https://other.example/", f"https://{HOST}:8443/", f"https://x.{HOST}/"])
def test_a_host_that_is_not_granted_is_not_called(receiver, url):
    action = ended(cloud_to(receiver), url=url)
    assert (action.status, receiver.requests) == ("failed", [])
    assert f"granted are: {HOST}" in action.attempts[-1].message


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate of the host and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    now = SystemClock().now()
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    plain = serialization.NoEncryption()
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    )
    return path


class Rebinding:
    """A name whose address changes after the first lookup: to a private one."""

    def __init__(self, receiver):
        self.answers = ["93.184.215.14", "169.254.169.254"]
        self.looked_up, self.connected = [], []
        self._receiver = receiver

    def lookup(self, host, port, **_):
        self.looked_up.append(host)
        return [(0, 0, 0, "", (self.answers.pop(0), port))]

    def connect(self, address, **options):
        self.connected.append(address)
        assert ipaddress.ip_address(address[0]).is_global  # a name would be resolved again
        return socket.create_connection(self._receiver.address, **options)


@pytest.mark.parametrize("is_trusted", [True, False])
def test_the_connection_goes_to_the_address_that_was_checked_and_proves_the_name(
    receiver, certificate, is_trusted
):
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate)
    receiver.server.socket = serving.wrap_socket(receiver.server.socket, server_side=True)
    trusted = str(certificate) if is_trusted else None
    name = Rebinding(receiver)
    post = HttpPost(
        SystemClock(),
        lookup=name.lookup,
        connect=name.connect,
        tls=lambda: ssl.create_default_context(cafile=trusted),
    )
    if is_trusted:
        assert post(f"https://{HOST}/a", b"{}", {"webhook-id": "1"}).status == 200
        assert receiver.requests[0][1]["Host"] == HOST
    else:
        with pytest.raises(ssl.SSLCertVerificationError):
            post(f"https://{HOST}/a", b"{}", {})
    assert (name.looked_up, name.connected) == ([HOST], [("93.184.215.14", 443)])


def test_a_name_is_resolved_anew_for_each_request(receiver):
    name = Rebinding(receiver)
    post = HttpPost(SystemClock(), lookup=name.lookup, connect=name.connect)
    with pytest.raises(OSError, match=r"."):  # the receiver speaks no TLS
        post(f"https://{HOST}/", b"", {})
    with pytest.raises(AddressForbidden):
        post(f"https://{HOST}/", b"", {})
    assert len(name.connected) == 1


def test_the_id_of_a_jobs_run_has_no_full_stop():
    assert (
        message_id(type("Run", (), {"idempotency_key": "nightly-ping.1.20270101"})())
        == "nightly-ping_1_20270101"
    )


def test_without_the_extra_a_signed_webhook_names_it(receiver, monkeypatch):
    monkeypatch.setitem(sys.modules, "standardwebhooks.webhooks", None)
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    action = ended(cloud_to(receiver, secret="env:HOOK_SECRET"))
    assert "pip install 'duetime[webhooks]'" in action.attempts[-1].message


def test_the_read_of_one_secret_that_hangs_delays_no_other(monkeypatch):
    hangs, goes_on = threading.Event(), threading.Event()

    def read(arn):
        if arn == "arn:slow":
            hangs.set()
            goes_on.wait()
        return arn

    monkeypatch.setattr(target_calls, "_read", read)
    calls = target_calls.AwsTargetCalls()
    slow, other = (
        threading.Thread(target=calls.secret, args=[arn], daemon=True) for arn in ("arn:slow", "arn:other")
    )
    slow.start()
    hangs.wait()
    other.start()
    other.join(120)  # seconds, which only a failure takes
    assert not other.is_alive()
    goes_on.set()
    slow.join()
