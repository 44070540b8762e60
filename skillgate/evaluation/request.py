"""Requests for evaluations, and depth, findings and gates from the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from skillgate import settings
from skillgate.errors import IncompleteError, UsageError
from skillgate.model.finding import Client
from skillgate.model.score import Badge, Depth
from skillgate.named_tuple import NamedTuple
from skillgate.registry import PROVIDERS
from skillgate.scoring.gate import Policy
from skillgate.scoring.selection import Selection, unknown_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import PurePosixPath

    from skillgate.config import Config, Layer
    from skillgate.evaluation.standard_input import StandardInput
    from skillgate.model.setting import Group, Setting, Value

    Reading = Callable[[str, str, str], str]

MAX_BYTES = 50_000_000  # of a file that is read completely
SIMULATED = (Depth.DEEP, Depth.CERTIFY)
_LAYERS = {
    frozenset({"static"}): Depth.QUICK,
    frozenset({"static", "judge"}): Depth.STANDARD,
    frozenset({"static", "judge", "montecarlo"}): Depth.DEEP,
}
_BOUNDS = {setting.gate: setting for setting in settings.of_group(settings.GATE) if setting.gate}
_BUDGETS: tuple[Setting[Any], ...] = (settings.MAX_COST_USD, settings.MAX_CALLS)
_SESSIONS = tuple(setting for setting in settings.of_group(settings.SESSIONS) if setting.gate)


class Scope(NamedTuple):
    """The skills of a run."""

    paths: tuple[str, ...] = (".",)  # skills, or directories with skills
    allow_empty: bool = False
    changed: bool = False  # whether to report only skills that a change touches
    since: str | None = None  # the revision for ``changed``; None for the last commit
    of_files: bool = False  # whether the paths are the skills of some files
    shard: tuple[int, int] | None = None  # which part of how many to report, from (1, 1) on; None for all
    excluded: Callable[[str], bool] | None = None  # whether a directory is not searched, by its shown path
    given: StandardInput | None = None  # the one skill of the run, whose main file is on standard input


class ModelOptions(NamedTuple):
    """How to ask models, in addition to the configuration."""

    record: str | None = None  # a file to write every exchange to
    replay: str | None = None  # a recording that replaces the provider
    refresh: bool = False  # whether to ask again for cached answers
    keep_answers: bool = True  # whether to cache answers between runs
    calibration: str | None = None  # a calibration file
    dry_run: bool = False
    lift: bool = False  # whether to do the skills' tasks without them too
    benchmark_json: str | None = None  # file for the lift of one skill; written with the report
    default_judges: int = 1  # how many judge if the configuration does not say; at depth certify at least three


class EvaluateRequest(NamedTuple):
    """What to evaluate, and how."""

    config: Config
    scope: Scope = Scope()
    command: str = "score"  # or ``check``: only the static layer, without advice
    models: ModelOptions = ModelOptions()
    merge_sarif: tuple[str, ...] = ()  # files with findings of other tools
    write_known_findings: str | None = None
    use_cache: bool = True
    use_processes: bool = True
    digest: bool = True  # whether to include the configuration's digest, which takes longer than a short run


class CertificateRequest(NamedTuple):
    """What to write for certified skills; None for nothing."""

    certificate: str | None = None
    days: int | None = None
    badges: str | None = None  # a directory


class MergeRequest(NamedTuple):
    """The shards of one run to join into one report."""

    files: tuple[str, ...]
    config: Config
    baseline: str | None = None  # the report that the shards must have been compared with
    insisted: bool = False  # whether options set gates, which must match those of the shards


class CompareRequest(NamedTuple):
    """Two skills to compare, each a path or ``REV:path``."""

    a: str
    b: str
    config: Config
    models: ModelOptions = ModelOptions()
    max_drop: float | None = None  # points that ``b`` may score below ``a``; None for no gate


def read_whole(place: str, shown: str, what: str) -> str:
    """Read a text file that an option names; ``shown`` (its path as written) and ``what`` (its use) are for messages.

    Raises:
        UsageError: there is no such file, it is not UTF-8, or it is too large.
    """
    try:
        with open(place, "rb") as file:  # noqa: PTH123
            data = file.read(MAX_BYTES + 1)
        if len(data) <= MAX_BYTES:
            return data.decode("utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"{what} {shown} does not exist") from None
    except UnicodeDecodeError:
        raise UsageError(f"{what} {shown} is not UTF-8") from None
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        raise UsageError(f"cannot read {what} {shown}: {getattr(error, 'strerror', None) or error}") from error
    raise UsageError(f"{what} {shown} is larger than {MAX_BYTES:,} bytes")


def chosen_depth(config: Config) -> Depth:
    """Return the depth of configuration and options.

    Raises:
        UsageError: ``layers`` is not the set of a depth, or conflicts with ``depth``.
    """
    depth, layers = Depth(config.get(settings.DEPTH)), config.get(settings.LAYERS)
    if layers is None:
        return depth
    by_layers = _LAYERS.get(frozenset(layers))
    if by_layers is None:
        raise UsageError(
            f"layers {', '.join(layers)}: each layer needs the ones before it; use static, static,judge or"
            " static,judge,montecarlo"
        )
    origins = config.origin(settings.DEPTH), config.origin(settings.LAYERS)
    if by_layers is not depth and origins == ("option", "option"):
        raise UsageError(f"--layers {','.join(layers)} is depth {by_layers.value}, but --depth is {depth.value}")
    return by_layers if origins[0] != "option" or origins[1] == "option" else depth


def static_depth(config: Config) -> Depth:
    """Return the depth of a command that only measures the static layer, whatever the configuration says.

    Raises:
        IncompleteError: an option sets another depth.
    """
    depth = config.get(settings.DEPTH)
    if config.origin(settings.DEPTH) == "option" and depth != "quick":
        raise IncompleteError(
            f"check cannot run depth {depth}: it measures only the static layer and asks no model; use skillgate"
            f" score --depth {depth}"
        )
    return Depth.QUICK


def require_fitting_options(config: Config, options: ModelOptions, depth: Depth) -> None:
    """Raise UsageError for options that have no effect at this depth."""
    if depth in SIMULATED:
        # The directory of a corpus has an effect: skills are listed next to those of a corpus too.
        if depth is Depth.DEEP and _is_option(config, settings.OPPONENTS):
            raise UsageError(f"--{settings.OPPONENTS.key}: depth deep plays no matches; use --depth certify")
        return
    model_flags = {
        "--refresh": options.refresh,
        "--record": options.record is not None,
        "--replay": options.replay is not None,
        "--calibration": options.calibration is not None,
        "--dry-run": options.dry_run,
    }
    session_flags = {"--lift": options.lift, "--benchmark-json": options.benchmark_json is not None}
    of_models = _options(config, settings.MODELS, model_flags)
    deeper = [*_options(config, settings.SESSIONS, session_flags), *_options(config, settings.MATCHES, {})]
    if depth is Depth.QUICK and (of_models or deeper):
        needed = "standard" if of_models else "deep"
        raise UsageError(f"{', '.join((*of_models, *deeper))}: depth quick asks no model; use --depth {needed}")
    if depth is not Depth.QUICK and deeper:
        raise UsageError(f"{', '.join(deeper)}: depth {depth.value} simulates no sessions; use --depth deep")


def _options(config: Config, group: Group, flags: dict[str, bool]) -> list[str]:
    """List the set options of a group, and the set flags."""
    listed = [f"--{setting.key}" for setting in settings.of_group(group) if _is_option(config, setting)]
    return listed + [flag for flag, is_set in flags.items() if is_set]


def _is_option(config: Config, setting: Setting[Any]) -> bool:
    """Whether an option sets a setting; a number of 0 has no effect."""
    return config.origin(setting) == "option" and config.get(setting) not in (None, 0)


def require_able(config: Config, depth: Depth, *, replay: bool = False) -> None:
    """Raise UsageError if sessions need tools and the provider has none; a recording can replace any provider."""
    provider = config.get(settings.PROVIDER)
    if depth in SIMULATED and PROVIDERS.flag(provider, "WITHOUT_TOOLS") and not replay:
        raise UsageError(
            f"provider {provider} cannot run depth {depth.value}: sessions need tools, which it does not support; use"
            f" depth standard, or provider anthropic with {settings.BASE_URL.key} for a server with the Messages API"
        )


def selections(config: Config) -> Callable[[PurePosixPath], Selection]:
    """Return the selection of findings of each skill, by its shown path.

    Raises:
        UsageError: a rule does not exist.
    """
    require_known_words(config)
    from time import localtime, strftime

    day = strftime("%Y-%m-%d", localtime())

    def selection(path: PurePosixPath | None) -> Selection:
        profile, ignore = config.get(settings.PROFILE, path), config.get(settings.IGNORE, path)
        return Selection(
            profile=None if profile == "any" else Client(profile),
            select=frozenset(config.get(settings.SELECT, path)),
            ignore=frozenset(ignore or ()),
            today=day,
            ignored_in=None if path is None else config.ignored_in(path),
            inapplicable_in=None if path is None else config.inapplicable_in(path),
        )

    if config.scoped:
        return cache(selection)
    everywhere = selection(None)
    return lambda _: everywhere


def wants_optional(config: Config) -> bool:
    """Whether an opt-in rule may be selected anywhere, by id, group or ``all``."""
    listed = (layer.values.get("select") for layer in config.layers)
    words = {word for value in listed if isinstance(value, tuple) for word in value}
    if not words - {"default"}:
        return False
    from skillgate.static.rules import OPTIONAL  # only if there is a selection

    return not words.isdisjoint({"all", "portability", *(name.upper() for name in OPTIONAL)})


def house_ids(config: Config) -> tuple[str, ...]:
    """Return the ids of all house rules of the configuration, also of those that an option switches off."""
    tables = (layer.values.get(settings.RULES.key) for layer in config.layers)
    return tuple(identifier for table in tables if isinstance(table, Mapping) for identifier in table)


def require_known_words(config: Config) -> None:
    """Raise UsageError, with every problem, if a selection has unknown words or selects nothing."""
    house = house_ids(config)
    problems = [problem for layer in config.layers for problem in _house_problems(layer)]
    problems += [problem for layer in config.layers for problem in _selection_problems(layer, house)]
    if problems:
        raise UsageError("\n".join(problems))


def _house_problems(layer: Layer) -> Iterator[str]:
    table = layer.values.get(settings.RULES.key)
    if not isinstance(table, Mapping):
        return
    from skillgate.static.catalogue import rule_ids  # only if there are house rules

    for identifier in table:
        if identifier in rule_ids():
            where = f"{layer.origins[settings.RULES.key]}: {settings.RULES.key}.{identifier}"
            yield f"{where}: skillgate has a rule with this id; choose another, such as ACME_{identifier}"[:300]


def _selection_problems(layer: Layer, house: Collection[str]) -> Iterator[str]:
    for key in ("select", "ignore", settings.PER_FILE_IGNORES.key):
        words = layer.values.get(key)
        if isinstance(words, Mapping):
            lists = [listed for listed in words.values() if isinstance(listed, tuple)]
            words = tuple(dict.fromkeys(word for listed in lists for word in listed))
        if not isinstance(words, tuple):
            continue
        from skillgate.static.catalogue import rule_ids  # only if there is a selection

        wrong = unknown_words(words, (*rule_ids(), *house))
        if key == "select" and not words:
            wrong = "it names no rule, so nothing would be reported"
        if wrong:
            origin = layer.origins[key]
            yield f"--{key}: {wrong}" if origin == "option" else f"{origin}: {key}: {wrong}"


def require_bounds(config: Config, depth: Depth, *, also: Collection[str] = ()) -> None:
    """Raise UsageError for gates that could never fail: without a limit, or not measured here.

    ``also`` are gates of other commands that this run measures too.
    """
    key = settings.FAIL_ON.key
    origin = config.origin(settings.FAIL_ON)
    _require_bounds(config, depth, config.get(settings.FAIL_ON), origin, also)
    for layer in config.layers:
        if origin != "option" and layer.patterns and key in layer.values:  # an option overrides every path
            _require_bounds(config, depth, layer.values[key], layer.origins[key], also)


def _require_bounds(config: Config, depth: Depth, listed: Value, origin: str, also: Collection[str]) -> None:
    if not isinstance(listed, tuple):
        return
    key = settings.FAIL_ON.key
    where = f"--{key}" if origin == "option" else f"{key} ({origin})"
    if "never" in listed and len(listed) > 1:
        others = ", ".join(word for word in listed if word != "never")
        raise UsageError(f"{where} lists never together with {others}; choose one")
    for gate, bound in _BOUNDS.items():
        bounds = (bound, *(_SESSIONS if gate == "threshold" and depth in SIMULATED else ()))
        if gate in listed and not any(one.key in layer.values for layer in config.layers for one in bounds):
            raise UsageError(f"{where} lists {gate}, which needs {bound.key}; without it the gate would always pass")
    if "budget" in listed and depth is not Depth.QUICK and all(config.get(one) is None for one in _BUDGETS):
        names = " or ".join(one.key for one in _BUDGETS)
        raise UsageError(f"{where} lists budget, which needs {names}; without it the gate would always pass")
    elsewhere = ("benchmark", "budget") if depth is Depth.QUICK else ("benchmark",)
    unmeasured = [gate for gate in listed if gate in elsewhere and gate not in also]
    if unmeasured and (origin == "option" or len(unmeasured) == len(listed)):
        raise UsageError(f"{where} lists {', '.join(unmeasured)}, which this command does not measure")


def policies(
    config: Config, *, command: str, note: Callable[[str], None], depth: Depth = Depth.QUICK
) -> Callable[[PurePosixPath], Policy]:
    """Return the gate of each skill, by its shown path; ``note`` is called once for each limit without effect."""
    noted: set[str] = set()

    def note_once(word: str, text: str) -> None:
        if word not in noted:
            noted.add(word)
            note(text)

    def policy(path: PurePosixPath) -> Policy:
        bounds = {gate: config.get(setting, path) for gate, setting in _BOUNDS.items()}
        bounded = frozenset(gate for gate, bound in bounds.items() if bound or bound == 0)
        sessions = {setting.key: config.get(setting, path) for setting in _SESSIONS}
        for key in [key for key, bound in sessions.items() if bound is not None]:
            if depth in SIMULATED:
                bounded |= {"threshold"}
            elif command != "check":
                note_once(key, f"{key} has no effect: depth {depth.value} simulates no sessions")
        listed = config.get(settings.FAIL_ON, path)
        fail_on = bounded | ({"error"} if command == "check" else frozenset())
        if listed is not None:
            # Limits on the command line count, unless its own --fail-on says otherwise.
            own = config.origin(settings.FAIL_ON, path) == "option"
            insisted = frozenset(gate for gate in bounded if not own and _is_insisted(config, gate, path))
            fail_on = insisted if "never" in listed else frozenset(listed) | insisted
            for gate in sorted(bounded - fail_on):
                key = _BOUNDS[gate].key if bounds[gate] is not None else " or ".join(k for k in sessions if sessions[k])
                reason = f"{settings.FAIL_ON.key} does not list {gate}: it is only shown"
                note_once(gate, f"{key} is set, but {reason}")
        badge, dimensions = config.get(settings.MIN_BADGE, path), config.get(settings.MIN_DIMENSION, path)
        simulated = depth in SIMULATED
        return Policy(
            fail_on=fail_on,
            threshold=config.get(settings.THRESHOLD, path),
            min_new_score=config.get(settings.MIN_NEW_SCORE, path),
            min_badge=None if badge is None else Badge(badge.title()),
            min_dimension={} if dimensions is None else dimensions,
            max_drop=config.get(settings.MAX_DROP, path),
            on_inconclusive=config.get(settings.ON_INCONCLUSIVE, path),
            min_activation=config.get(settings.MIN_ACTIVATION, path) if simulated else None,
            max_failure_rate=config.get(settings.MAX_FAILURE_RATE, path) if simulated else None,
        )

    return policy


def _is_insisted(config: Config, gate: str, path: PurePosixPath) -> bool:
    """Whether the command line itself sets a limit of a gate."""
    bounds = (_BOUNDS[gate], *(_SESSIONS if gate == "threshold" else ()))
    return any(config.origin(setting, path) == "option" for setting in bounds)
