"""What the commands of jobs are given."""

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
