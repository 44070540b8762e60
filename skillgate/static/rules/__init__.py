"""The room of rules: findings beyond the score.

``NEEDS`` names, for a rule, the words of which one must stand somewhere in a skill's text for it to have anything to
say: its file is loaded only then. A rule that is not named here is loaded for every skill. A test holds each entry to
its rule's own case table.
"""

NEEDS: dict[str, tuple[str, ...]] = {}
