"""``duetime outbox`` asks local clouds alone."""


def test_an_api_that_is_no_local_cloud_has_no_outbox(duetime, url):
    for name in ("events", "mails", "messages", "metrics"):
        status, printed, told = duetime("outbox", name)
        assert (status, printed) == (1, "")
        assert told.startswith(f"duetime: {url} is no local cloud")
