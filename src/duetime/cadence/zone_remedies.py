"""What to write instead of a text that is no IANA zone: an offset, an abbreviation, a city, a misspelling.

Imported only after a zone has been rejected.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from duetime._english import counted
from duetime.cadence.errors import did_you_mean

ABBREVIATIONS = {
    "AEDT": "Australia/Sydney",
    "AEST": "Australia/Sydney",
    "AKDT": "America/Anchorage",
    "AKST": "America/Anchorage",
    "ACST": "Australia/Adelaide",
    "AWST": "Australia/Perth",
    "BRT": "America/Sao_Paulo",
    "BST": "Europe/London",
    "CDT": "America/Chicago",
    "CEST": "Europe/Berlin",
    "CST": "America/Chicago",
    "EDT": "America/New_York",
    "EEST": "Europe/Athens",
    "HKT": "Asia/Hong_Kong",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "KST": "Asia/Seoul",
    "MDT": "America/Denver",
    "MESZ": "Europe/Berlin",
    "MEZ": "Europe/Berlin",
    "MSK": "Europe/Moscow",
    "NZDT": "Pacific/Auckland",
    "NZST": "Pacific/Auckland",
    "PDT": "America/Los_Angeles",
    "PST": "America/Los_Angeles",
    "SGT": "Asia/Singapore",
    "WEST": "Europe/Lisbon",
    "WIB": "Asia/Jakarta",
}
_OFFSET = re.compile(
    r"(?P<prefix>UTC|GMT|Z)?\s*(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d\d))?", re.IGNORECASE
)
_EASTERNMOST, _WESTERNMOST = 14, 12


def zone_remedy(name: str, zones: AbstractSet[str]) -> str:
    """Return what to write instead of ``name``, which is not among the IANA zones."""
    if found := _OFFSET.fullmatch(name.strip()):
        return _fixed(found)
    if name.strip().upper() in ABBREVIATIONS:
        example = ABBREVIATIONS[name.strip().upper()]
        return f"an abbreviation is one offset, of several regions: name the region, as in {example}"
    city = [zone for zone in zones if zone.rpartition("/")[2].lower() == name.lower().replace(" ", "_")]
    if city:
        return f"did you mean {min(city)}?"
    long = {zone for zone in zones if "/" in zone}  # EST is similar to everything that ends in ST
    return did_you_mean(name, long) or "use an IANA name, as in Europe/Paris"


def _fixed(found: re.Match[str]) -> str:
    hours, minutes = int(found["hours"]), int(found["minutes"] or 0)
    most = _EASTERNMOST if found["sign"] == "+" else _WESTERNMOST
    if minutes or hours > most:
        return "an offset has no name in the IANA database: name a region, as in Asia/Kolkata"
    if not hours:
        return "write UTC"
    name = f"Etc/GMT{'-' if found['sign'] == '+' else '+'}{hours}"
    side = "ahead of" if found["sign"] == "+" else "behind"
    length = counted(int(hours), "hour")
    return f"write {name}, which is {length} {side} UTC all year (its sign is reversed), or name a region"
