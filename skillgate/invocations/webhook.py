"""Post the result of a gate to an address from an environment variable. The address is a secret and is never shown."""

from __future__ import annotations

import ipaddress
import json
import time
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from skillgate import __version__
from skillgate.errors import UsageError
from skillgate.report.invocations.dashboard import BROKEN, decided

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.console import Console
    from skillgate.model.invocation import GateCheck, InvocationReport

TIMEOUT_S = 10.0  # of each step of a request
WAITS_S = (1.0, 3.0)  # before the second and the third try
MOST_SKILLS = 100
_PASSING = (408, 425, 429)  # statuses that may pass, as all from 500 on


class Webhook(NamedTuple):
    """An address, and the variable that holds it."""

    variable: str
    url: str


class _NoRedirect(HTTPRedirectHandler):
    """Follow no redirect: the document is for the configured address only."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


def webhook_from(variable: str, environ: Mapping[str, str]) -> Webhook:
    """Read the address from a variable.

    Raises:
        UsageError: it is not set, or not an ``https`` address; ``http`` is for loopback only.
    """
    url = environ.get(variable, "").strip()
    if not url:
        raise UsageError(f"--webhook-url-from: the environment variable {variable[:80]!r} is not set")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host, parts = "", urlsplit("")
    secure = parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))
    if not (host and secure and parts.username is None and url.isascii() and url.isprintable() and " " not in url):
        wanted = "an https:// address without a user name (http:// for loopback only)"
        raise UsageError(f"--webhook-url-from: the value of {variable[:80]!r} is not {wanted}")
    return Webhook(variable, url)


def document(report: InvocationReport) -> dict[str, Any]:
    """Return what is posted: one line of text without names of skills, and the skills that need action as data."""
    broken = [one for one in report.gates if one.status in BROKEN]
    return {
        "kind": "gate-alert",
        "text": f"skillgate: {decided(report.gates)}",
        "gate": report.gates[0].gate,
        "gate_kind": report.gates[0].kind,
        "checked": len(report.gates),
        "not_met": len(broken),
        "skills": [_skill(one) for one in broken[:MOST_SKILLS]],
        "days": report.days,
        "until": report.until.isoformat(),
        "rubric_version": report.rubric_version,
    }


def post(webhook: Webhook, body: Mapping[str, Any], session: Console) -> bool:
    """Post a JSON document, up to three times; note how it ended, and return whether it arrived."""
    headers = {"Content-Type": "application/json", "User-Agent": f"skillgate/{__version__}"}
    request = Request(webhook.url, json.dumps(body).encode(), headers, method="POST")  # noqa: S310 - checked
    direct = [ProxyHandler({})] if _is_loopback(urlsplit(webhook.url).hostname or "") else []
    opener = build_opener(_NoRedirect, *direct)
    for number, wait_s in enumerate((*WAITS_S, None), start=1):
        problem, may_pass = "", True
        try:
            with opener.open(request, timeout=TIMEOUT_S):
                session.detail(f"webhook of {webhook.variable}: posted")
                return True
        except HTTPError as error:
            problem, may_pass = f"the server answered {error.code}", error.code >= 500 or error.code in _PASSING
            error.close()
        except (URLError, HTTPException, OSError, ValueError) as error:
            # The text of an error may hold the address, so only its kind is shown.
            cause = error.reason if isinstance(error, URLError) else error
            problem = "no answer in time" if isinstance(cause, TimeoutError) else f"no connection ({_kind(cause)})"
        if wait_s is None or not may_pass:
            tries = "" if number == 1 else f" after {number} tries"
            session.note(f"webhook of {webhook.variable}: not delivered{tries}: {problem}")
            return False
        time.sleep(wait_s)
    return False


def _kind(cause: object) -> str:
    return type(cause).__name__


def _skill(check: GateCheck) -> dict[str, Any]:
    stats = check.stats
    return {
        "skill": check.skill,
        "status": check.status,
        "reasons": list(check.failures),
        "average": stats.avg_score,
        "rated": stats.invocation_count,
        "error_rate": stats.error_rate,
    }


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
