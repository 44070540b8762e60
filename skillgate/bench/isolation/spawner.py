"""Start programs of skills: limited in time, output, memory and processes, and without the user's variables."""
# ruff: noqa: PTH101, PTH102, PTH103, PTH110, PTH113, PTH117, PTH118, PTH120

from __future__ import annotations

import os
import secrets
import shutil
import signal
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from skillgate.bench.isolation.pipes import Pipes, exchange
from skillgate.bench.isolation.processes import (
    ENDED_BECAUSE,
    FIRST_USER,
    SHARED,
    Owned,
    Slots,
    bounded,
    end_all,
    remove,
    remove_of,
    request_end,
)
from skillgate.bench.isolation.sandbox import (
    NOTHING,
    Sandbox,
    View,
    can_mount,
    copy_for_all,
    copy_of,
    in_view,
    paths_below,
)
from skillgate.bench.isolation.seclusion import adopt_orphans, gain_no_privileges, gains_no_privileges, is_secluded
from skillgate.bench.ports import WORK_DIR, Ended, Limits
from skillgate.bench.program import Ground, NoProgramError, kind_of, require_startable
from skillgate.errors import IncompleteError, UsageError
from skillgate.files import is_within, open_to_all
from skillgate.process import MissingExecutableError, start

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.bench.isolation.processes import Slot
    from skillgate.bench.isolation.sandbox import Answers
    from skillgate.process import Child


_COARSE_NS = 50_000_000  # more than the resolution of file times


class ProcessSpawner:
    """Runs programs of skills, each call in its own session. Thread-safe.

    As root, every call runs as an unused uid, so that it cannot read the environment or the private files of other
    processes, and all its leftovers can be found and stopped.

    Attributes:
        notice: Why there is less isolation than requested; ``""`` if there is not.
    """

    def __init__(
        self,
        *,
        path: str,
        stop: threading.Event,
        sandbox: str = "none",
        memory_bytes: int | None = None,
        as_caller: bool = False,
    ) -> None:
        """Prepare.

        Args:
            path: Search path for programs, as ``PATH``.
            stop: Ends every call.
            sandbox: ``none``, ``bwrap``, or ``auto`` for bwrap if it works.
            memory_bytes: Upper limit for every call; None for none.
            as_caller: Whether programs run as this process's user even if it is root.

        Raises:
            UsageError: bwrap was requested and does not work.
        """
        self._path = path
        self._stop = stop
        self._memory_bytes = memory_bytes
        if as_caller and is_secluded():
            adopt_orphans()
        self._slots = Slots(switch=not as_caller)
        self._folder = os.path.realpath(tempfile.mkdtemp(prefix="skillgate-"))
        os.chmod(self._folder, 0o711)  # noqa: S103 - users of calls pass through it
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._copies: dict[tuple[str, bool], str] = {}
        self._served: tuple[str, ...] = ()
        self._hidden: Answers = NOTHING
        self._sandbox: Sandbox | None = None
        self._mounts = False
        self.notice = ""
        if sandbox != "none":
            self._enter(sandbox)
        elif is_secluded():  # this process only evaluates, so the change may be permanent
            gain_no_privileges()
        self._mounts = self.sandbox == "none" and self._slots.switches and can_mount()

    @property
    def answers_readable(self) -> bool:
        """Whether programs may be able to read the expected answers."""
        if self._sandbox is not None or self._mounts:
            return False
        return not self._slots.switches or self._hidden.are_open()

    @property
    def sandbox(self) -> str:
        """The sandbox of calls: ``bwrap`` or ``none``."""
        return "bwrap" if self._sandbox else "none"

    @property
    def isolated(self) -> tuple[str, ...]:
        """What programs are isolated from, as phrases for a list."""
        words = ["variables of the environment", "open files of this process", "the home directory's variable"]
        if self._slots.switches:
            words += ["other users' files", "the environment of other processes"]
            words += ["the expected answers", "the temporary files of other calls"] * self._mounts
        elif is_secluded() and not self._sandbox:
            words.append("the environment and memory of this process (not of the shell or runner that started it)")
        if self._sandbox:
            words += ["all files except the system's, the interpreters' and its own", "the expected answers"]
            words += ["other processes", "the temporary files of other calls", "the network"]
        elif gains_no_privileges():
            words.append("rights of set-user-id programs")
        return tuple(words)

    def reach(self, served: Mapping[str, str]) -> None:
        """Let sandboxed programs reach the loopback URLs and files among the values of ``served``.

        Raises:
            UsageError: There is no Python for the relay in the sandbox.
        """
        self._served = tuple(value for value in served.values() if os.path.isabs(value) and os.path.isfile(value))
        if self._sandbox is not None:
            self._sandbox.reach(served, self._folder)

    def hide(self, answers: Answers) -> None:
        """Hide expected answers from programs, as far as possible; call this before anything is started."""
        self._hidden = answers

    def unstartable(self, argv: Sequence[str], *, root: str, env: Mapping[str, str], copy: bool) -> str | None:
        """Return why an existing program cannot be started here; None if it can, or if the skill is at fault."""
        real = os.path.realpath(root)
        closed = self._slots.switches and not copy and not open_to_all(real)
        try:
            place = self._readable(root, self._hidden) if closed else real
            require_startable(argv, self._ground(place, self._environment("/", env), owned=real if copy else None))
        except NoProgramError:
            return None
        except MissingExecutableError:
            path = os.path.join(root, argv[0])
            if closed and "/" in argv[0] and os.path.isfile(path):
                return (
                    f"{path} is a link out of {root}, which other users cannot enter; make it accessible to all users"
                )
            return None
        except (IncompleteError, OSError) as error:
            return str(error)
        return None

    def run(
        self,
        argv: Sequence[str],
        *,
        root: str,
        stdin: bytes,
        env: Mapping[str, str],
        limits: Limits,
        copy: bool,
        sees_answers: bool = False,
    ) -> Ended:
        """Run a program; see :class:`skillgate.bench.ports.Spawner`."""
        hidden = NOTHING if sees_answers else self._hidden
        with ExitStack() as made:
            try:
                slot = made.enter_context(self._slots.taken())
                home = made.enter_context(self._home(slot))
                owns = made.enter_context(self._slots.running(slot))
                child = self._start(argv, root, home, env, slot, hidden, copy=copy)
            except (IncompleteError, OSError, shutil.Error) as error:
                return Ended(b"", b"", None, kind_of(error), str(error))
            ended = self._finish(child, stdin, self._capped(limits), Owned(slot.user, owns, home), argv[0])
            if ended.kind is not None:
                self._slots.tire(slot)
            return ended

    def open(self, argv: Sequence[str], *, root: str, env: Mapping[str, str], limits: Limits, copy: bool) -> Pipes:
        """Start a program and keep it running; see :class:`skillgate.bench.ports.Spawner`."""
        with ExitStack() as made:
            slot = made.enter_context(self._slots.taken())
            made.callback(self._slots.tire, slot)
            home = made.enter_context(self._home(slot))
            owned = Owned(slot.user, made.enter_context(self._slots.running(slot)), home)
            try:
                child = self._start(argv, root, home, env, slot, self._hidden, copy=copy)
            except (OSError, shutil.Error) as error:
                raise IncompleteError(f"{argv[0]} could not be started: {error}") from error
            return Pipes(
                child,
                argv[0],
                self._capped(limits),
                owned,
                stop=self._stop,
                made=made.pop_all(),
                code_of=self._own_code,
            )

    def close(self) -> None:
        """Remove temporary files; all calls must have ended."""
        if not self._closed.is_set():
            self._closed.set()
            for user in self._slots.users() if self._sandbox is None else ():
                remove_of(user)  # again, in case the clock was changed
            self._slots.close()
            if self._sandbox is not None:
                self._sandbox.close()
            remove(self._folder)

    def _enter(self, wanted: str) -> None:
        """Create the sandbox and test it."""
        try:
            self._sandbox = Sandbox(path=self._path, user=self._user())
            trial = self.run(["true"], root="/usr", stdin=b"", env={}, limits=Limits(timeout_s=20), copy=False)
            text = trial.problem or trial.stderr.decode("utf-8", "replace").strip()
            problem = f"bwrap cannot start: {text}" if trial.kind or trial.returncode else ""
        except IncompleteError as error:
            problem = str(error)
        if not problem:
            return
        self._sandbox = None
        if wanted == "auto":
            self.notice = f"not isolated: {problem}; programs run without a sandbox"
            return
        self.close()
        raise UsageError(f"--sandbox {wanted}: {problem}; use --sandbox none to run programs without one")

    def _user(self) -> int | None:
        """Return a uid that calls run as."""
        return FIRST_USER if self._slots.switches else None

    def _capped(self, limits: Limits) -> Limits:
        bounds = [most for most in (limits.memory_bytes, self._memory_bytes) if most is not None]
        return limits._replace(memory_bytes=min(bounds, default=None))

    def _start(
        self,
        argv: Sequence[str],
        root: str,
        home: str,
        env: Mapping[str, str],
        slot: Slot,
        hidden: Answers,
        *,
        copy: bool,
    ) -> Child:
        """Start a program."""
        where = self._place(root, home, slot, hidden, copy=copy)
        argv = [word.replace(WORK_DIR, where) for word in argv]
        whole = self._environment(home, {name: value.replace(WORK_DIR, where) for name, value in env.items()})
        alone = slot.user is not None
        ground = self._ground(where, whole, owned=where if copy and alone else None)
        command = [require_startable(argv, ground), *argv[1:]]
        if self._sandbox is not None:
            with self._sandbox.wrapped(
                command, place=where, home=home, env=whole, writable=copy, files=self._served, hidden=hidden
            ) as (wrapped, files):
                return start(bounded(wrapped, alone=alone), cwd="/", env={}, user=slot.user, files=files)
        if not self._mounts or slot.user is None:
            return start(bounded(command, alone=alone), cwd=where, env=whole, user=slot.user)
        real = os.path.realpath(where)
        around = os.path.dirname(home)
        shown = tuple(path for path in self._shared_to_show(command, real, whole) if not is_within(path, around))
        view = View(around, slot.user, self._folder, shown, hidden)
        return in_view(view, lambda: start(bounded(command, alone=alone), cwd=real, env=whole, user=slot.user))

    def _ground(self, place: str, env: Mapping[str, str], *, owned: str | None) -> Ground:
        visible = None if self._sandbox is None else (*self._sandbox.visible, *self._served, self._folder)
        return Ground(place, env, others=self._slots.switches, owned=owned, visible=visible)

    def _shared_to_show(self, command: Sequence[str], place: str, env: Mapping[str, str]) -> tuple[str, ...]:
        """Return the paths in shared directories that a call needs to run or is given."""
        named = (part for value in env.values() for part in value.split(os.pathsep))  # such as PATH and PYTHONPATH
        wanted = {place, *self._served, *(part for part in named if os.path.isabs(part) and "\0" not in part)}
        paths = (os.path.normpath(os.path.join(place, word)) for word in command if "\0" not in word)
        wanted |= {path for path in paths if os.path.exists(path)}
        wanted |= {os.path.realpath(path) for path in wanted}
        visible = set()
        for path in wanted:
            for shared in map(os.path.realpath, SHARED):
                if path != shared and is_within(path, shared):
                    top = os.path.join(shared, os.path.relpath(path, shared).partition(os.sep)[0])
                    visible.add(path if is_within(path, self._folder) else top)
        return tuple(sorted(path for path in visible if os.path.exists(path)))

    def _finish(self, child: Child, stdin: bytes, limits: Limits, call: Owned, program: str) -> Ended:
        try:
            heard = exchange(child, stdin, limits, call, self._stop)
            if heard.kind is not None:
                request_end(child)
        finally:
            end_all(child, call)
        if heard.kind is None:
            return Ended(heard.stdout, heard.stderr, self._own_code(child.returncode))
        words = f"{program} {ENDED_BECAUSE[heard.kind].format(limits=limits)}"
        return Ended(heard.stdout, heard.stderr, None, heard.kind, words)

    def _own_code(self, code: int) -> int:
        """Return a program's exit code; bubblewrap reports signals as a shell does."""
        return -(code - 128) if self._sandbox is not None and 128 < code <= 128 + signal.NSIG else code

    @contextmanager
    def _home(self, slot: Slot) -> Iterator[str]:
        """Make an empty home directory for one call, accessible only to its user."""
        since_ns = time.time_ns() - _COARSE_NS
        try:
            # Without separate users, another call may have removed it.
            os.makedirs(self._folder, 0o711, exist_ok=True)
            around = tempfile.mkdtemp(dir=self._folder)
        except OSError as error:
            raise IncompleteError(f"cannot make a directory for a call: {error.strerror}: {error.filename}") from error
        try:
            os.chmod(around, 0o711)  # noqa: S103 - the call's user passes through it
            os.close(os.open(os.path.join(around, "empty"), os.O_CREAT | os.O_WRONLY, 0o444))
            home = os.path.join(around, "home")
            for folder in (home, os.path.join(around, "tmp"))[: 2 if self._sandbox else 1]:
                os.mkdir(folder, 0o700)
                if slot.user is not None:
                    os.chown(folder, slot.user, slot.user)
            yield home
        finally:
            remove(around)
            if slot.user is not None and self._sandbox is None:
                remove_of(slot.user, since_ns)

    def prepare(self, root: str) -> None:
        """Copy a skill if its calls need that, so that the first call does not take longer.

        Raises:
            IncompleteError: It cannot be copied.
        """
        if self._slots.switches and not open_to_all(os.path.realpath(root)):
            self._readable(root, self._hidden)

    def _place(self, root: str, home: str, slot: Slot, hidden: Answers, *, copy: bool) -> str:
        """Return the working directory: the skill's own, a copy readable for all users, or the call's own copy."""
        if not copy:
            closed = slot.user is not None and not open_to_all(os.path.realpath(root))
            return self._readable(root, hidden) if closed else root
        place = os.path.join(os.path.dirname(home), "skill")
        copy_of(root, place, {*hidden.files, *hidden.folders})
        if slot.user is not None:
            for path in paths_below(place):
                os.chown(path, slot.user, slot.user, follow_symlinks=False)
        return place

    def _readable(self, root: str, hidden: Answers) -> str:
        """Return the copy of a skill that every user can read, creating it once."""
        with self._lock:
            key = (root, hidden is NOTHING)
            if key not in self._copies:
                place = os.path.join(self._folder, f"skill-{secrets.token_hex(8)}")
                copy_for_all(root, place, {*hidden.files, *hidden.folders})
                self._copies[key] = place
            return self._copies[key]

    def _environment(self, home: str, env: Mapping[str, str]) -> dict[str, str]:
        return {
            "PATH": self._path,
            "HOME": home,
            "TMPDIR": home,
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            "SKILLGATE": "1",
            **env,
        }
