"""Zones by other names than the IANA database's: Windows' names, and what to write instead of a text.

Windows' names, short and long, which Outlook writes, are from Unicode's CLDR, ``windowsZones.xml``, for the
world (territory 001). Another text may be an offset, an abbreviation, a city or a misspelling.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

from duetime._english import counted
from duetime.cadence.errors import did_you_mean

WINDOWS_ZONES = {
    "AUS Central Standard Time": "Australia/Darwin",
    "AUS Eastern Standard Time": "Australia/Sydney",
    "Afghanistan Standard Time": "Asia/Kabul",
    "Alaskan Standard Time": "America/Anchorage",
    "Alberta Standard Time": "America/Edmonton",
    "Aleutian Standard Time": "America/Adak",
    "Altai Standard Time": "Asia/Barnaul",
    "Arab Standard Time": "Asia/Riyadh",
    "Arabian Standard Time": "Asia/Dubai",
    "Arabic Standard Time": "Asia/Baghdad",
    "Argentina Standard Time": "America/Buenos_Aires",
    "Astrakhan Standard Time": "Europe/Astrakhan",
    "Atlantic Standard Time": "America/Halifax",
    "Aus Central W. Standard Time": "Australia/Eucla",
    "Azerbaijan Standard Time": "Asia/Baku",
    "Azores Standard Time": "Atlantic/Azores",
    "Bahia Standard Time": "America/Bahia",
    "Bangladesh Standard Time": "Asia/Dhaka",
    "Belarus Standard Time": "Europe/Minsk",
    "Bougainville Standard Time": "Pacific/Bougainville",
    "British Columbia Standard Time": "America/Vancouver",
    "Canada Central Standard Time": "America/Regina",
    "Cape Verde Standard Time": "Atlantic/Cape_Verde",
    "Caucasus Standard Time": "Asia/Yerevan",
    "Cen. Australia Standard Time": "Australia/Adelaide",
    "Central America Standard Time": "America/Guatemala",
    "Central Asia Standard Time": "Asia/Bishkek",
    "Central Brazilian Standard Time": "America/Cuiaba",
    "Central Europe Standard Time": "Europe/Budapest",
    "Central European Standard Time": "Europe/Warsaw",
    "Central Pacific Standard Time": "Pacific/Guadalcanal",
    "Central Standard Time": "America/Chicago",
    "Central Standard Time (Mexico)": "America/Mexico_City",
    "Chatham Islands Standard Time": "Pacific/Chatham",
    "China Standard Time": "Asia/Shanghai",
    "Cuba Standard Time": "America/Havana",
    "Dateline Standard Time": "Etc/GMT+12",
    "E. Africa Standard Time": "Africa/Nairobi",
    "E. Australia Standard Time": "Australia/Brisbane",
    "E. Europe Standard Time": "Europe/Chisinau",
    "E. South America Standard Time": "America/Sao_Paulo",
    "Easter Island Standard Time": "Pacific/Easter",
    "Eastern Standard Time": "America/New_York",
    "Eastern Standard Time (Mexico)": "America/Cancun",
    "Egypt Standard Time": "Africa/Cairo",
    "Ekaterinburg Standard Time": "Asia/Yekaterinburg",
    "FLE Standard Time": "Europe/Kiev",
    "Fiji Standard Time": "Pacific/Fiji",
    "GMT Standard Time": "Europe/London",
    "GTB Standard Time": "Europe/Bucharest",
    "Georgian Standard Time": "Asia/Tbilisi",
    "Greenland Standard Time": "America/Godthab",
    "Greenwich Standard Time": "Atlantic/Reykjavik",
    "Haiti Standard Time": "America/Port-au-Prince",
    "Hawaiian Standard Time": "Pacific/Honolulu",
    "India Standard Time": "Asia/Calcutta",
    "Iran Standard Time": "Asia/Tehran",
    "Israel Standard Time": "Asia/Jerusalem",
    "Jordan Standard Time": "Asia/Amman",
    "Kaliningrad Standard Time": "Europe/Kaliningrad",
    "Korea Standard Time": "Asia/Seoul",
    "Libya Standard Time": "Africa/Tripoli",
    "Line Islands Standard Time": "Pacific/Kiritimati",
    "Lord Howe Standard Time": "Australia/Lord_Howe",
    "Magadan Standard Time": "Asia/Magadan",
    "Magallanes Standard Time": "America/Punta_Arenas",
    "Manitoba Standard Time": "America/Winnipeg",
    "Marquesas Standard Time": "Pacific/Marquesas",
    "Mauritius Standard Time": "Indian/Mauritius",
    "Middle East Standard Time": "Asia/Beirut",
    "Montevideo Standard Time": "America/Montevideo",
    "Morocco Standard Time": "Africa/Casablanca",
    "Mountain Standard Time": "America/Denver",
    "Mountain Standard Time (Mexico)": "America/Mazatlan",
    "Myanmar Standard Time": "Asia/Rangoon",
    "N. Central Asia Standard Time": "Asia/Novosibirsk",
    "Namibia Standard Time": "Africa/Windhoek",
    "Nepal Standard Time": "Asia/Katmandu",
    "New Zealand Standard Time": "Pacific/Auckland",
    "Newfoundland Standard Time": "America/St_Johns",
    "Norfolk Standard Time": "Pacific/Norfolk",
    "North Asia East Standard Time": "Asia/Irkutsk",
    "North Asia Standard Time": "Asia/Krasnoyarsk",
    "North Korea Standard Time": "Asia/Pyongyang",
    "Omsk Standard Time": "Asia/Omsk",
    "Pacific SA Standard Time": "America/Santiago",
    "Pacific Standard Time": "America/Los_Angeles",
    "Pacific Standard Time (Mexico)": "America/Tijuana",
    "Pakistan Standard Time": "Asia/Karachi",
    "Paraguay Standard Time": "America/Asuncion",
    "Qyzylorda Standard Time": "Asia/Qyzylorda",
    "Romance Standard Time": "Europe/Paris",
    "Russia Time Zone 10": "Asia/Srednekolymsk",
    "Russia Time Zone 11": "Asia/Kamchatka",
    "Russia Time Zone 3": "Europe/Samara",
    "Russian Standard Time": "Europe/Moscow",
    "SA Eastern Standard Time": "America/Cayenne",
    "SA Pacific Standard Time": "America/Bogota",
    "SA Western Standard Time": "America/La_Paz",
    "SE Asia Standard Time": "Asia/Bangkok",
    "Saint Pierre Standard Time": "America/Miquelon",
    "Sakhalin Standard Time": "Asia/Sakhalin",
    "Samoa Standard Time": "Pacific/Apia",
    "Sao Tome Standard Time": "Africa/Sao_Tome",
    "Saratov Standard Time": "Europe/Saratov",
    "Singapore Standard Time": "Asia/Singapore",
    "South Africa Standard Time": "Africa/Johannesburg",
    "South Sudan Standard Time": "Africa/Juba",
    "Sri Lanka Standard Time": "Asia/Colombo",
    "Sudan Standard Time": "Africa/Khartoum",
    "Syria Standard Time": "Asia/Damascus",
    "Taipei Standard Time": "Asia/Taipei",
    "Tasmania Standard Time": "Australia/Hobart",
    "Tocantins Standard Time": "America/Araguaina",
    "Tokyo Standard Time": "Asia/Tokyo",
    "Tomsk Standard Time": "Asia/Tomsk",
    "Tonga Standard Time": "Pacific/Tongatapu",
    "Transbaikal Standard Time": "Asia/Chita",
    "Turkey Standard Time": "Europe/Istanbul",
    "Turks And Caicos Standard Time": "America/Grand_Turk",
    "US Eastern Standard Time": "America/Indianapolis",
    "US Mountain Standard Time": "America/Phoenix",
    "UTC+12": "Etc/GMT-12",
    "UTC+13": "Etc/GMT-13",
    "UTC-02": "Etc/GMT+2",
    "UTC-08": "Etc/GMT+8",
    "UTC-09": "Etc/GMT+9",
    "UTC-11": "Etc/GMT+11",
    "Ulaanbaatar Standard Time": "Asia/Ulaanbaatar",
    "Venezuela Standard Time": "America/Caracas",
    "Vladivostok Standard Time": "Asia/Vladivostok",
    "Volgograd Standard Time": "Europe/Volgograd",
    "W. Australia Standard Time": "Australia/Perth",
    "W. Central Africa Standard Time": "Africa/Lagos",
    "W. Europe Standard Time": "Europe/Berlin",
    "W. Mongolia Standard Time": "Asia/Hovd",
    "West Asia Standard Time": "Asia/Tashkent",
    "West Bank Standard Time": "Asia/Hebron",
    "West Pacific Standard Time": "Pacific/Port_Moresby",
    "Yakutsk Standard Time": "Asia/Yakutsk",
    "Yukon Standard Time": "America/Whitehorse",
}

# Places in long names, without "island", whose zones the IANA database names after another place.
_PLACES = {
    "astana": "Asia/Almaty",
    "aleutian": "America/Adak",
    "baja california": "America/Tijuana",
    "brasilia": "America/Sao_Paulo",
    "cabo verde is.": "Atlantic/Cape_Verde",
    "chokurdakh": "Asia/Srednekolymsk",
    "city of buenos aires": "America/Buenos_Aires",
    "ekaterinburg": "Asia/Yekaterinburg",
    "haiti": "America/Port-au-Prince",
    "hawaii": "Pacific/Honolulu",
    "indiana": "America/Indianapolis",
    "international date line west": "Etc/GMT+12",
    "nuku'alofa": "Pacific/Tongatapu",
    "port louis": "Indian/Mauritius",
    "saint pierre and miquelon": "America/Miquelon",
    "salvador": "America/Bahia",
    "samoa": "Pacific/Apia",
    "solomon is.": "Pacific/Guadalcanal",
    "sri jayawardenepura": "Asia/Colombo",
    "turks and caicos": "America/Grand_Turk",
    "west central africa": "Africa/Lagos",
}
_LONG = re.compile(r"\((?:UTC|GMT)(?:(?P<hours>[+-]\d\d)[:.]?(?P<minutes>\d\d))?\)\s*(?P<places>.+)")


def iana_name(name: str) -> str:
    """Return the IANA zone of Windows' name, as ``W. Europe Standard Time`` or ``(UTC+01:00) Berlin, Rome``.

    A long name, which depends on Windows' language, is read by its first place with a zone of its offset.
    Another name is returned unchanged.
    """
    found = _LONG.fullmatch(name)
    if found is None:
        return WINDOWS_ZONES.get(name, name)
    hours, minutes = int(found["hours"] or 0), int(found["minutes"] or 0)
    ahead = timedelta(hours=hours, minutes=-minutes if found["hours"] and hours < 0 else minutes)
    cities = {zone.rpartition("/")[2].lower(): zone for zone in sorted(available_timezones(), reverse=True)}
    cities |= _PLACES
    for place in re.split(r", |/", found["places"].lower()):
        short = re.sub(r"( time)? \(.*| islands?$", "", place)
        if short.startswith("coordinated universal time"):
            return f"Etc/GMT{-hours:+}" if hours else "UTC"
        known = (WINDOWS_ZONES.get(f"{short.title()} Standard Time"), cities.get(short))
        zone = next(filter(None, known), cities.get(short.replace(" ", "_")))
        times = (datetime(2026, month, 1, tzinfo=UTC) for month in (1, 7))
        if zone and ahead in {at.astimezone(ZoneInfo(zone)).utcoffset() for at in times}:
            return zone
    return name


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
    if minutes or hours > (_EASTERNMOST if found["sign"] == "+" else _WESTERNMOST):
        return "an offset has no name in the IANA database: name a region, as in Asia/Kolkata"
    if not hours:
        return "write UTC"
    name = f"Etc/GMT{'-' if found['sign'] == '+' else '+'}{hours}"
    side = "ahead of" if found["sign"] == "+" else "behind"
    length = counted(int(hours), "hour")
    return f"write {name}, which is {length} {side} UTC all year (its sign is reversed), or name a region"
