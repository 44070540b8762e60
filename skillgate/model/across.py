"""What a report says of skills together: the lists that clients show, and what a change did across skills."""

from typing import Annotated, NamedTuple

from skillgate.model.finding import Client, Finding
from skillgate.model.marks import Range

Count = Annotated[int, Range(0, None)]


class ListingUse(NamedTuple):
    """What the listing of one plugin or folder of skills takes of a client's budget.

    Attributes:
        client: whose budget.
        place: the plugin, or the folder of skills that belong to none: what is installed together is listed together.
        skills: how many are listed.
        characters: names and descriptions, each cut at the client's own limit.
        budget: characters the client lists before it leaves descriptions out.
        cut: the skills whose description alone is over the client's limit for one, by path.
        before: ``characters`` of the baseline, None without one.
    """

    client: Client
    place: str
    skills: Count
    characters: Count
    budget: Count
    cut: tuple[str, ...] = ()
    before: Count | None = None


class AcrossChange(NamedTuple):
    """What a change does to findings across skills, beside a baseline: those that came and those that went."""

    new: tuple[Finding, ...]
    fixed: tuple[Finding, ...]
