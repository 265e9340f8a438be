"""``duetime outbox`` works on the local cloud only."""


def test_the_outbox_of_an_api_that_is_no_local_cloud_is_rejected(duetime, url):
    for name in ("events", "mails", "messages", "metrics"):
        status, printed, errors = duetime("outbox", name)
        assert (status, printed) == (1, "")
        assert errors.startswith(f"duetime: {url} is no local cloud")
