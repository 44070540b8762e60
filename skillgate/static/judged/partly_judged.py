"""The judge was shown only part of the skill, since all of it is too long for one request.

Why:
    A judge reads the main file, every text file of references/ and the other documents of the skill, whole. Where all
    of it is longer than 400,000 characters, or than what the model takes, whole sections are left out, those of the
    main file last, and the report names them. What was left out is neither praised nor blamed: the scores tell of the
    rest alone. The model that uses a skill that long rarely reads all of it either.

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
    severity=Severity.WARNING,
    summary="the judge was shown only part of the skill",
    fix="move data out of references/, or split the skill",
    find=reported("partly_judged"),
)
