"""Prometheus' text, read by Prometheus' own parser: figures, inert names, no duplicate and not too many series."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

parser = pytest.importorskip("prometheus_client.parser")

from skillgate.format import printable  # noqa: E402
from skillgate.report.formats import prometheus  # noqa: E402
from tests.report import invocations_made as made  # noqa: E402

if TYPE_CHECKING:
    from skillgate.model.invocation import InvocationReport

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def read(report: InvocationReport) -> Samples:
    """Read the text; a series that is there twice fails."""
    found: Samples = {}
    for family in parser.text_string_to_metric_families(prometheus.render(report)):
        assert family.type == "gauge"
        assert family.documentation
        for sample in family.samples:
            key = (sample.name.removeprefix("skillgate_"), tuple(sorted(sample.labels.items())))
            assert key not in found
            found[key] = sample.value
    return found


def test_every_figure_is_a_sample_and_what_was_not_measured_is_none() -> None:
    report = made.with_groups(made.gated())
    found = read(report)
    csv = (("skill", "csv-import"),)
    assert found["skill_average_score", csv] == 58.4
    assert (found["skill_invocations", csv], found["skill_rated_invocations", csv]) == (52, 47)
    assert found["skill_change_points", csv] == pytest.approx(-15.6)
    assert found["skill_duration_seconds", (("quantile", "0.95"), *csv)] == 136
    assert found["gate_passed", (("gate", "publish"), *csv)] == 0
    assert found["gate_passed", (("gate", "publish"), ("skill", "pdf-forms"))] == 1
    assert ("gate_passed", (("gate", "publish"), ("skill", "image-alt"))) not in found  # undecided
    assert ("skill_cost_usd", (("quantile", "0.5"), ("skill", "pdf-forms"))) not in found
    assert found["window_end_timestamp_seconds", ()] == report.until.timestamp()


def test_an_empty_store_gives_a_valid_text() -> None:
    assert read(made.empty())["invocations", ()] == 0


def test_names_are_data() -> None:
    found = read(made.hostile())
    names = {labels[0][1] for name, labels in found if name == "skill_average_score"}
    assert names == {printable(name) for name in made.BAD}
    assert not [line for line in prometheus.render(made.hostile()).splitlines() if not line.startswith(("#", "skill"))]


def test_names_that_look_the_same_are_one_series() -> None:
    twins = made.figures("a\x1b", 90.0), made.figures("a\\x1b", 80.0)
    assert read(made.report(*twins))["skill_average_score", (("skill", "a\\x1b"),)] in (90.0, 80.0)


def test_the_number_of_series_is_bounded_and_the_rest_is_counted() -> None:
    many = made.with_groups(made.many(1_000))
    found = read(replace(many, gates=many.gates * 3))
    assert len(found) < 4_000
    assert found["skills_left_out", ()] == 800
