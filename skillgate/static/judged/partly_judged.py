"""The judge was shown only part of the skill: it is too long, or holds files that no judge can be shown.

Why:
    A judge reads the main file, every text file of references/ and the other text files that the skill's pages lead to,
    whole. Where all of it is longer than 400,000 characters, or than what the model takes, whole sections are left out,
    those of the main file last, and the report names them. Left out, and named, is also a file that is too large, that
    comes after 300 others or eight megabytes of them, or that a page links and that is no text. What was left out is
    neither praised nor blamed: the scores tell of the rest alone, so there is no badge for them. The model that uses
    a skill that long rarely reads all of it either. A file that is no text and that no page links is named too, for
    information only.

Bad:
    references/api.md with a vendor's complete manual of 900 pages

Good:
    references/ with the pages that the skill needs, and a script that looks the others up

Source: Decision of this project; of 232 published skills one has more than 400,000 characters, the others less than
120,000.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="PARTLY_JUDGED",
    severity=Severity.ERROR,
    summary="the judge was shown only part of the skill",
    fix="save what is text as UTF-8, move data to assets/, or split the skill",
    find=reported("partly_judged"),
    blocks_badge=True,
)
