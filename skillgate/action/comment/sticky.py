"""The sticky comment: which of a pull request's comments is this tool's own, and what has to be done about it.

Any user may write a comment that begins with the marker, and a token that may comment may also edit what others wrote.
So a comment is taken for this tool's own only by its marker and its author together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_UNITS = 65_536  # UTF-16 code units of a comment; GitHub answers 422 above, its API description does not say so
ACTIONS_LOGIN = "github-actions[bot]"  # who writes with a workflow's own token
_BOT = "[bot]"  # what the login of an App's bot ends in, after the App's short name


class Comment(NamedTuple):
    """One comment of a pull request.

    Attributes:
        id: grows with time.
        login: the author; ``""`` for one who has left GitHub.
        bot: whether the author is an App's bot and not a person.
        app: the short name of the App that wrote it, ``""`` where GitHub does not say.
    """

    id: int
    body: str
    url: str = ""
    login: str = ""
    bot: bool = False
    app: str = ""


class Decision(NamedTuple):
    """What to do.

    Attributes:
        current: the comment that says the result, None where a new one is needed.
        outdated: whether its body must be written again.
        duplicates: later comments of the same author with the same marker, which become pointers to ``current``.
    """

    current: Comment | None
    outdated: bool = False
    duplicates: tuple[Comment, ...] = ()


def marker(key: str) -> str:
    """Return the first line of the comments of ``key``: letters, digits, ``.``, ``_`` and ``-``."""
    return f"<!-- skillgate:v1 key={key} -->"


def refusal(body: str, mark: str) -> str:
    """Say in a sentence why a body must not be sent; ``""`` where nothing speaks against it."""
    if not bears(body, mark):
        return "the comment does not begin with its marker, so a later run could not find it"
    units = len(body.encode("utf-16-le", "surrogatepass")) // 2
    if units > MAX_UNITS:
        return f"the comment has {units:,} characters, more than the {MAX_UNITS:,} that GitHub takes"
    return ""


def bears(body: str, mark: str) -> bool:
    """Return whether the first line is the marker and nothing else."""
    return first_line(body) == mark


def first_line(body: str) -> str:
    """Return the first line of a body, where a marker is."""
    return normal(body).split("\n", 1)[0].rstrip()


def normal(body: str) -> str:
    """Return a body as it compares: GitHub may keep line ends as CR LF, and white space at the end says nothing."""
    return body.replace("\r\n", "\n").replace("\r", "\n").rstrip()


def marked(comments: Iterable[Comment], mark: str) -> tuple[Comment, ...]:
    """Choose the comments with the marker, by any author, the oldest first."""
    return tuple(sorted((item for item in comments if bears(item.body, mark)), key=lambda item: item.id))


def decide(candidates: tuple[Comment, ...], body: str, login: str | None) -> Decision:
    """Choose the comment to keep, and what to do with the others.

    Args:
        candidates: as :func:`marked` gives them.
        body: what the comment shall say.
        login: who the token writes as. With it a comment is ours only if that account wrote it. None if GitHub did
            not say: then a person's comment is never ours, nor one of a bot that another App wrote with; the bot of
            GitHub Actions is preferred, else the oldest comment's bot is taken for ours.
    """
    own = _written_by(candidates, login) if login is not None else _likely_own(candidates)
    if not own:
        return Decision(None)
    first, *duplicates = own
    return Decision(first, outdated=normal(first.body) != normal(body), duplicates=tuple(duplicates))


def pointer(comment: Comment) -> str:
    """Return the body of a duplicate. It has no marker, so it is not a duplicate the next time."""
    return f"The result is in [another comment]({comment.url})." if comment.url else "The result is further up."


def _written_by(comments: Iterable[Comment], login: str) -> tuple[Comment, ...]:
    return tuple(item for item in comments if item.login and item.login.casefold() == login.casefold())


def _likely_own(candidates: Iterable[Comment]) -> tuple[Comment, ...]:
    bots = [item for item in candidates if item.bot and item.login and item.app + _BOT in (item.login, _BOT)]
    if not bots:
        return ()
    by_actions = _written_by(bots, ACTIONS_LOGIN)
    return by_actions or _written_by(bots, bots[0].login)
