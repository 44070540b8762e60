"""Checks for the formats of JSON Schema (draft 7 and 2020-12), each by the RFC that defines it.

jsonschema's own checks depend on installed packages, cover fewer formats and are lenient: any string with an @ is an
email.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from typing import TypeAlias
from unicodedata import bidirectional, normalize

Check: TypeAlias = Callable[[str], bool]

# RFC 3987: characters that IRIs allow beyond URIs, and those for queries only.
_UCS = "\xa0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef" + "".join(
    f"{chr(plane << 16 | (0x1000 if plane == 14 else 0))}-{chr(plane << 16 | 0xFFFD)}" for plane in range(1, 15)
)
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
_UNRESERVED, _SUB = "A-Za-z0-9._~\\-", "!$&'()*+,;="
_ENCODED = "%[0-9A-Fa-f]{2}"
_PARTS = re.compile(r"(?:([^:/?#]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*")
_FUTURE_IP = re.compile(rf"[vV][0-9A-Fa-f]+\.[{_UNRESERVED}{_SUB}:]+")

_DATE = re.compile("([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))")
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_N = "[0-9]+"
_CLOCK = f"T(?:{_N}H(?:{_N}M(?:{_N}S)?)?|{_N}M(?:{_N}S)?|{_N}S)"
_DURATION = re.compile(
    f"P(?:{_N}W|{_CLOCK}|(?:{_N}Y(?:{_N}M(?:{_N}D)?)?|{_N}M(?:{_N}D)?|{_N}D)(?:{_CLOCK})?)"  # RFC 3339, appendix A
)

_DOTS = re.compile("[.\u3002\uff0e\uff61]")  # label separators, RFC 3490
_LABEL = re.compile("[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_LONGEST_HOST = 253
_ATOM = "A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-"
_BEYOND_ASCII = "\x80-\ud7ff\ue000-\U0010ffff"
_QUOTED = r'"(?:[\x20\x21\x23-\x5b\x5d-\x7e{more}]|\\[\x20-\x7e])*"'
_LONGEST_LOCAL = 64

_VARIABLE = f"(?:[A-Za-z0-9_]|{_ENCODED})"
_NAMED = rf"{_VARIABLE}(?:\.?{_VARIABLE})*(?::[1-9][0-9]{{0,3}}|\*)?"
_TEMPLATE = re.compile(
    rf"(?:[\x21\x23\x24\x26-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e{_UCS}{_PRIVATE}]|{_ENCODED}"
    rf"|\{{[+#./;?&=,!@|]?{_NAMED}(?:,{_NAMED})*\}})*"
)
_POINTER = "(?:/(?:[^~/]|~[01])*)*"
_JSON_POINTER = re.compile(_POINTER, re.DOTALL)
_RELATIVE_POINTER = re.compile(f"(?:0|[1-9][0-9]*)(?:#|{_POINTER})", re.DOTALL)
_UUID = re.compile("[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")


class _Address:
    """The grammar of URIs, or of IRIs."""

    def __init__(self, beyond: str, private: str) -> None:
        letters = f"{_UNRESERVED}{_SUB}{beyond}"
        self._authority = re.compile(
            rf"(?:(?:[{letters}:]|{_ENCODED})*@)?(?:\[([^\[\]]*)\]|(?:[{letters}]|{_ENCODED})*)(?::[0-9]*)?"
        )
        self._path = re.compile(rf"(?:[{letters}:@/]|{_ENCODED})*")
        self._query = re.compile(rf"(?:[{letters}:@/?{private}]|{_ENCODED})*")
        self._fragment = re.compile(rf"(?:[{letters}:@/?]|{_ENCODED})*")

    def is_absolute(self, text: str) -> bool:
        """Whether text is an address with a scheme."""
        return ":" in re.split("[/?#]", text, maxsplit=1)[0] and self.is_reference(text)

    def is_reference(self, text: str) -> bool:
        """Whether text is an absolute or relative address."""
        parts = _PARTS.fullmatch(text)
        if parts is None:
            return False
        scheme, authority, path, query, fragment = parts.groups()
        if scheme is not None and not _SCHEME.fullmatch(scheme):
            return False
        if authority is not None:
            found = self._authority.fullmatch(authority)
            if found is None or not (found[1] is None or _FUTURE_IP.fullmatch(found[1]) or _is_ipv6(found[1])):
                return False
        fits = ((self._path, path), (self._query, query), (self._fragment, fragment))
        return all(part is None or pattern.fullmatch(part) for pattern, part in fits)


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    if found is None:
        return False
    year, month, day = map(int, found.groups())
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= month <= 12 and 1 <= day <= _DAYS[month - 1] + leap


def _is_time(text: str) -> bool:
    found = _TIME.fullmatch(text)
    if found is None:
        return False
    hour, minute, second = map(int, found.group(1, 2, 3))
    ahead_hour, ahead_minute = int(found[5] or 0), int(found[6] or 0)
    if hour > 23 or minute > 59 or second > 60 or ahead_hour > 23 or ahead_minute > 59:
        return False
    ahead = (ahead_hour * 60 + ahead_minute) * (-1 if found[4] == "-" else 1)
    return second < 60 or (hour * 60 + minute - ahead) % 1440 == 1439  # a leap second is the last of a UTC day


def _is_date_time(text: str) -> bool:
    return text[10:11] in ("T", "t") and _is_date(text[:10]) and _is_time(text[11:])


def _is_hostname(text: str) -> bool:
    """RFC 1123; labels that begin with ``xn--`` must be valid by IDNA 2008."""
    labels = text.split(".")
    if len(text) > _LONGEST_HOST or not all(_LABEL.fullmatch(label) for label in labels):
        return False
    return all(_is_decodable(label) for label in labels if label.lower().startswith("xn--"))


def _is_decodable(label: str) -> bool:
    import idna  # slow to import, rarely needed

    try:
        return idna.alabel(idna.ulabel(label.lower())).decode() == label.lower()
    except UnicodeError:
        return False


def _is_idn_hostname(text: str) -> bool:
    """RFC 5890, with the rule of RFC 5893 for right-to-left names."""
    import idna

    if len(text) > _LONGEST_HOST:
        return False
    labels = _DOTS.split(text)
    try:
        if not all(labels) or len(idna.encode(text)) > _LONGEST_HOST:
            return False
        decoded = [idna.ulabel(label.lower()) for label in labels]
        from_right = [any(_runs_from_right(letter) for letter in label) for label in decoded]
        return not any(from_right) or all(idna.check_bidi(label, check_ltr=True) for label in decoded)
    except UnicodeError:
        return False


def _runs_from_right(letter: str) -> bool:
    return bidirectional(letter) in ("R", "AL", "AN")


def _mailbox(beyond: str, is_host: Check) -> Check:
    """Return the check for mailboxes of RFC 5321, or of RFC 6531 with characters beyond ASCII."""
    atom = f"[{_ATOM}{beyond}]+"
    local = re.compile(rf"{atom}(?:\.{atom})*|{_QUOTED.replace('{more}', beyond)}")

    def check(text: str) -> bool:
        before, _, domain = text.rpartition("@")
        if len(before.encode("utf-8", "replace")) > _LONGEST_LOCAL or not local.fullmatch(before):
            return False
        if domain.startswith("[") and domain.endswith("]"):
            inside = domain[1:-1]
            return _is_ipv6(inside[5:]) if inside[:5].lower() == "ipv6:" else _is_ipv4(inside)
        return is_host(domain)

    return check


def _is_ipv4(text: str) -> bool:
    try:
        IPv4Address(text)
    except ValueError:
        return False
    return True


def _is_ipv6(text: str) -> bool:
    try:
        return IPv6Address(text).scope_id is None
    except ValueError:
        return False


def _is_regex(text: str) -> bool:
    """ECMA-262 with the flag ``u``, as the specification requires."""
    import regress

    try:
        regress.Regex(text, "u")
    except (regress.RegressError, UnicodeError):
        return False
    return True


def _whole(pattern: re.Pattern[str]) -> Check:
    return lambda text: pattern.fullmatch(text) is not None


_URI, _IRI = _Address("", ""), _Address(_UCS, _PRIVATE)

FORMATS: dict[str, Check] = {
    "date-time": _is_date_time,
    "date": _is_date,
    "time": _is_time,
    "duration": _whole(_DURATION),
    "email": _mailbox("", _is_hostname),
    "idn-email": _mailbox(_BEYOND_ASCII, lambda domain: _is_idn_hostname(normalize("NFC", domain))),
    "hostname": _is_hostname,
    "idn-hostname": _is_idn_hostname,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "uri": _URI.is_absolute,
    "uri-reference": _URI.is_reference,
    "iri": _IRI.is_absolute,
    "iri-reference": _IRI.is_reference,
    "uri-template": _whole(_TEMPLATE),
    "json-pointer": _whole(_JSON_POINTER),
    "relative-json-pointer": _whole(_RELATIVE_POINTER),
    "regex": _is_regex,
    "uuid": _whole(_UUID),
}
# The packages that the checks need.
NEEDS = dict.fromkeys(("email", "idn-email", "hostname", "idn-hostname"), "idna") | {"regex": "regress"}
