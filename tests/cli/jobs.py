"""Arguments for the commands of jobs."""

NIGHTLY = "Daily_02_30_Europe_Paris"
REPORT = (
    "acme-report",
    "--type",
    "remark",
    "--payload",
    '{"text": "weekly"}',
    "--cadence",
    "weekly mon 06:00 tz=Europe/Paris",
)
