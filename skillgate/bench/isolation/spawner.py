"""Starts skills that are programs: bounded in time, output, memory and processes, and without the user's variables."""
# ruff: noqa: PTH118

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

from skillgate.access import is_within, open_to_all
from skillgate.bench.isolation import mounts, prctl
from skillgate.bench.isolation.answers import NOTHING
from skillgate.bench.isolation.bounds import bounded
from skillgate.bench.isolation.conversation import Pipes
from skillgate.bench.isolation.copies import all_of, copy_for_all, copy_of
from skillgate.bench.isolation.ending import WORDS, Owned, ask_to_end, end_all, too_much
from skillgate.bench.isolation.exchange import exchange
from skillgate.bench.isolation.leftovers import SHARED, remove, remove_of
from skillgate.bench.isolation.orphans import Orphans
from skillgate.bench.isolation.seclusion import is_secluded
from skillgate.bench.isolation.slots import FIRST_USER, Slots
from skillgate.bench.isolation.starting import Ground, NoProgramError, kind_of, require_startable
from skillgate.bench.ports import Ended, Limits
from skillgate.errors import IncompleteError, UsageError
from skillgate.process import MissingExecutableError, start

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.bench.isolation.answers import Answers
    from skillgate.bench.isolation.reach import Reached
    from skillgate.bench.isolation.sandbox import Sandbox
    from skillgate.bench.isolation.slots import Slot
    from skillgate.process import Child


_COARSE_NS = 50_000_000  # more than the steps in which a system's clock dates files


class ProcessSpawner:
    """Runs programs of skills, each call in a session of its own. Thread-safe.

    As root, every call runs under a user number that nothing else has, so that it can read neither the environment nor
    the private files of other processes, and everything that it leaves behind can be found and ended.

    Attributes:
        notice: why that is less than was wanted; ``""`` where it is not.
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
        """Make ready.

        Args:
            path: where programs are looked for, as in ``PATH``.
            stop: ends every call.
            sandbox: ``none``, ``bwrap``, or ``auto`` for bwrap where it works.
            memory_bytes: that no call may exceed, whatever its own limit is; None for no such bound.
            as_caller: whether programs run as this process's user although it is root.

        Raises:
            UsageError: bwrap was asked for and does not work.
        """
        self._path = path
        self._stop = stop
        self._memory_bytes = memory_bytes
        self._slots = Slots(switch=not as_caller)
        if as_caller and is_secluded():
            prctl.adopt_orphans()
        self._orphans = Orphans()
        self._folder = os.path.realpath(tempfile.mkdtemp(prefix="skillgate-"))
        os.chmod(self._folder, 0o711)  # noqa: PTH101, S103 - users of calls pass through it to their own
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._copies: dict[tuple[str, bool], str] = {}
        self._reached: Reached | None = None
        self._served: tuple[str, ...] = ()
        self._hidden: Answers = NOTHING
        self._sandbox: Sandbox | None = None
        self._mounts = False
        self.notice = ""
        if sandbox != "none":
            self._enter(sandbox)
        elif is_secluded():  # this process is the evaluation's own, so that it may be changed for good
            prctl.gain_no_privileges()
        self._mounts = self.sandbox == "none" and self._slots.switches and mounts.works()

    @property
    def answers_readable(self) -> bool:
        """Whether programs may be able to read the expected answers."""
        if self._sandbox is not None or self._mounts:
            return False
        return not self._slots.switches or self._hidden.are_open()

    @property
    def sandbox(self) -> str:
        """Say what calls run in: ``bwrap`` or ``none``."""
        return "bwrap" if self._sandbox else "none"

    @property
    def isolated(self) -> tuple[str, ...]:
        """Say what programs are kept from, in words that can stand in a list."""
        found = ["variables of the environment", "files that are open here", "the home directory's variable"]
        if self._slots.switches:
            found += ["other users' files", "the environment of other processes"]
            found += ["the expected answers", "the temporary files of other calls"] * self._mounts
        elif is_secluded() and not self._sandbox:
            found.append("the environment and memory of this process, not of the shell or runner that started it")
        if self._sandbox:
            found += ["all files but the system's, the interpreters' and its own", "the expected answers"]
            found += ["other processes", "the temporary files of other calls", "the network"]
        elif prctl.gains_no_privileges():
            found.append("rights of set-user-id programs")
        return tuple(found)

    def reach(self, served: Mapping[str, str]) -> None:
        """Let sandboxed programs reach what is served: URLs with a loopback host, and files, that are values of it.

        Raises:
            UsageError: that needs a Python in the sandbox, and there is none.
        """
        self._served = tuple(value for value in served.values() if os.path.isabs(value) and os.path.isfile(value))  # noqa: PTH113, PTH117
        if self._sandbox is None:
            return
        from skillgate.bench.isolation.reach import Reached, loopback_ports

        if ports := loopback_ports(served):
            self._reached = Reached(ports, self._folder, path=self._path, user=self._user())

    def hide(self, answers: Answers) -> None:
        """Keep what holds expected answers from programs, as far as this machine allows; before anything is started."""
        self._hidden = answers

    def unstartable(self, argv: Sequence[str], *, root: str, env: Mapping[str, str], copy: bool) -> str | None:
        """Say why this evaluator cannot start a program that exists; None where it can, or the program is at fault."""
        real = os.path.realpath(root)
        closed = self._slots.switches and not copy and not open_to_all(real)
        try:
            place = self._readable(root, self._hidden) if closed else real
            require_startable(argv, self._ground(place, self._environment("/", env), owned=real if copy else None))
        except NoProgramError:
            return None
        except MissingExecutableError:
            path = os.path.join(root, argv[0])
            if closed and "/" in argv[0] and os.path.isfile(path):  # noqa: PTH113
                return f"{path} leads out of {root}, which other users cannot enter; open it to all users"
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
        """Run a program to its end, and end all that it leaves behind; see :class:`skillgate.bench.ports.Spawner`."""
        hidden = NOTHING if sees_answers else self._hidden
        with ExitStack() as made:
            try:
                slot = made.enter_context(self._slots.taken())
                home = made.enter_context(self._home(slot))
                owns = made.enter_context(self._orphans.call())
                child = self._begun(argv, root, home, env, slot, hidden, copy=copy)
            except (IncompleteError, OSError, shutil.Error) as error:
                return Ended(b"", b"", None, kind_of(error), str(error))
            ended = self._finished(child, stdin, self._capped(limits), Owned(slot.user, owns, home), argv[0])
            if ended.kind is not None:
                self._slots.tire(slot)
            return ended

    def open(self, argv: Sequence[str], *, root: str, env: Mapping[str, str], limits: Limits, copy: bool) -> Pipes:
        """Start a program to talk to; see :class:`skillgate.bench.ports.Spawner`."""
        with ExitStack() as made:
            slot = made.enter_context(self._slots.taken())
            made.callback(self._slots.tire, slot)
            home = made.enter_context(self._home(slot))
            owned = Owned(slot.user, made.enter_context(self._orphans.call()), home)
            try:
                child = self._begun(argv, root, home, env, slot, self._hidden, copy=copy)
            except (OSError, shutil.Error) as error:
                raise IncompleteError(f"{argv[0]} could not be started: {error}") from error
            return Pipes(
                child, argv[0], self._capped(limits), owned, stop=self._stop, made=made.pop_all(), code_of=self._code
            )

    def close(self) -> None:
        """Remove what was made; calls have ended before."""
        if not self._closed.is_set():
            self._closed.set()
            for user in self._slots.users() if self._sandbox is None else ():
                remove_of(user)  # once more, whatever the clock did meanwhile
            self._slots.close()
            if self._reached is not None:
                self._reached.close()
            remove(self._folder)

    def _enter(self, wanted: str) -> None:
        """Make the sandbox and try it.

        Raises:
            UsageError: it does not work, and nothing else will do.
        """
        from skillgate.bench.isolation.sandbox import Sandbox

        try:
            self._sandbox = Sandbox(path=self._path, user=self._user())
            tried = self.run(["true"], root="/usr", stdin=b"", env={}, limits=Limits(timeout_s=20), copy=False)
            said = tried.problem or tried.stderr.decode("utf-8", "replace").strip()
            problem = f"bwrap cannot start: {said}" if tried.kind or tried.returncode else ""
        except IncompleteError as error:
            problem = str(error)
        if not problem:
            return
        self._sandbox = None
        if wanted == "auto":
            self.notice = f"not isolated: {problem}; programs run without a sandbox"
            return
        self.close()
        raise UsageError(f"--sandbox {wanted}: {problem}; --sandbox none runs programs without one")

    def _user(self) -> int | None:
        """Give a user that calls run as."""
        return FIRST_USER if self._slots.switches else None

    def _capped(self, limits: Limits) -> Limits:
        asked = [most for most in (limits.memory_bytes, self._memory_bytes) if most is not None]
        return limits._replace(memory_bytes=min(asked, default=None))

    def _begun(
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
        """Start a program in its place.

        Raises:
            IncompleteError, OSError, shutil.Error: it could not be started; :func:`kind_of` says whose fault that is.
        """
        where = self._place(root, home, slot, hidden, copy=copy)
        whole = self._environment(home, env)
        alone = slot.user is not None
        ground = self._ground(where, whole, owned=where if copy and alone else None)
        command = [require_startable(argv, ground), *argv[1:]]
        if self._sandbox is not None:
            files = self._served
            if self._reached is not None:
                command, files = self._reached.wrap(command), (*self._reached.files, *files)
            with self._sandbox.wrapped(
                command, place=where, home=home, env=whole, writable=copy, files=files, hidden=hidden
            ) as wrapped:
                return start(bounded(wrapped.argv, alone=alone), cwd="/", env={}, user=slot.user, files=wrapped.files)
        if not self._mounts or slot.user is None:
            return start(bounded(command, alone=alone), cwd=where, env=whole, user=slot.user)
        real = os.path.realpath(where)
        around = os.path.dirname(home)  # noqa: PTH120
        view = mounts.View(
            around=around,
            empty=os.path.join(around, "empty"),
            user=slot.user,
            run=self._folder,
            shown=tuple(path for path in self._shown(command, real, whole) if not is_within(path, around)),
            hidden_files=hidden.files,
            hidden_folders=hidden.folders,
        )
        return mounts.in_view(view, lambda: start(bounded(command, alone=alone), cwd=real, env=whole, user=slot.user))

    def _ground(self, place: str, env: Mapping[str, str], *, owned: str | None) -> Ground:
        visible = None if self._sandbox is None else (*self._sandbox.visible, *self._served, self._folder)
        return Ground(place, env, others=self._slots.switches, owned=owned, visible=visible)

    def _shown(self, command: Sequence[str], place: str, env: Mapping[str, str]) -> tuple[str, ...]:
        """Say what a call sees of the directories that all users share: what it needs to run, and what it is given."""
        named = (part for value in env.values() for part in value.split(os.pathsep))  # PATH, PYTHONPATH and their like
        wanted = {place, *self._served, *(part for part in named if os.path.isabs(part) and "\0" not in part)}  # noqa: PTH117
        paths = (os.path.normpath(os.path.join(place, word)) for word in command if "\0" not in word)
        wanted |= {path for path in paths if os.path.exists(path)}  # noqa: PTH110
        wanted |= {os.path.realpath(path) for path in wanted}
        found = set()
        for path in wanted:
            for shared in map(os.path.realpath, SHARED):
                if path != shared and is_within(path, shared):
                    top = os.path.join(shared, os.path.relpath(path, shared).partition(os.sep)[0])
                    found.add(path if is_within(path, self._folder) else top)
        return tuple(sorted(path for path in found if os.path.exists(path)))  # noqa: PTH110

    def _finished(self, child: Child, stdin: bytes, limits: Limits, call: Owned, program: str) -> Ended:
        try:
            heard = exchange(child, stdin, limits, self._stop, lambda: too_much(child.pid, call, limits))
            if heard.kind is not None:
                ask_to_end(child)
        finally:
            end_all(child, call)
        if heard.kind is None:
            return Ended(heard.stdout, heard.stderr, self._code(child.returncode))
        words = f"{program} {WORDS[heard.kind].format(limits=limits)}"
        return Ended(heard.stdout, heard.stderr, None, heard.kind, words)

    def _code(self, code: int) -> int:
        """Give a program's exit code; bubblewrap tells a signal as a shell does."""
        return -(code - 128) if self._sandbox is not None and 128 < code <= 128 + signal.NSIG else code

    @contextmanager
    def _home(self, slot: Slot) -> Iterator[str]:
        """Make a home for one call: an empty directory that only its user can enter.

        Raises:
            IncompleteError: there is no room for one.
        """
        since_ns = time.time_ns() - _COARSE_NS
        try:
            # Without users of their own, a call may have removed what was made for all of them.
            os.makedirs(self._folder, 0o711, exist_ok=True)  # noqa: PTH103
            around = tempfile.mkdtemp(dir=self._folder)
        except OSError as error:
            raise IncompleteError(
                f"no directory could be made for a call: {error.strerror}: {error.filename}"
            ) from error
        try:
            os.chmod(around, 0o711)  # noqa: PTH101, S103 - the call's user passes through it
            os.close(os.open(os.path.join(around, "empty"), os.O_CREAT | os.O_WRONLY, 0o444))
            home = os.path.join(around, "home")
            for folder in (home, os.path.join(around, "tmp"))[: 2 if self._sandbox else 1]:
                os.mkdir(folder, 0o700)  # noqa: PTH102
                if slot.user is not None:
                    os.chown(folder, slot.user, slot.user)
            yield home
        finally:
            remove(around)
            if slot.user is not None and self._sandbox is None:
                remove_of(slot.user, since_ns)

    def prepare(self, root: str) -> None:
        """Make a copy of a skill ready where its calls need one, so that the first of them does not take longer.

        Raises:
            IncompleteError: it cannot be copied.
        """
        if self._slots.switches and not open_to_all(os.path.realpath(root)):
            self._readable(root, self._hidden)

    def _place(self, root: str, home: str, slot: Slot, hidden: Answers, *, copy: bool) -> str:
        """Give the directory to run in: the skill's own, one that every user can read, or the call's own copy."""
        if not copy:
            closed = slot.user is not None and not open_to_all(os.path.realpath(root))
            return self._readable(root, hidden) if closed else root
        place = os.path.join(os.path.dirname(home), "skill")  # noqa: PTH120
        copy_of(root, place, {*hidden.files, *hidden.folders})
        if slot.user is not None:
            for path in all_of(place):
                os.chown(path, slot.user, slot.user, follow_symlinks=False)
        return place

    def _readable(self, root: str, hidden: Answers) -> str:
        """Give the copy of a skill that every user can read, made once."""
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
