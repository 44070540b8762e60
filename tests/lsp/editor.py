"""An editor for tests: a client of the protocol that talks to a real ``skillgate lsp`` over its standard streams."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types
from pygls import uris
from pygls.lsp.client import LanguageClient

from tests.architecture.source import ROOT

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

T = TypeVar("T")
_WAIT_S = 60  # before a test gives up on an answer that never comes
UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class Editor:
    """Buffers, and what the server said of them."""

    def __init__(
        self, folder: Path, *words: str, encoding: str | None = None, markdown: bool = True, versioned: bool = True
    ) -> None:
        """Start the server for a folder; ``encoding`` is the only one that is offered, None offers none."""
        self.folder = folder
        self.encoding = encoding or "utf-16"
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.published: list[types.PublishDiagnosticsParams] = []
        self.messages: list[str] = []
        self.stderr = b""
        self._words, self._offered, self._markdown, self._versioned = words, encoding, markdown, versioned
        self._heard = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._client = LanguageClient("an editor", "1")

    def __enter__(self) -> Editor:
        self._client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self._on_diagnostics(params))
        self._client.feature(types.WINDOW_SHOW_MESSAGE)(lambda params: self._on_message(params))
        self._thread.start()
        self._await(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._await(self._stop())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _start(self) -> None:
        environ = {**os.environ, "HOME": str(self.folder / "home"), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "skillgate", "lsp", *self._words]
        await self._client.start_io(*command, cwd=str(self.folder), env=environ)
        general = types.GeneralClientCapabilities(position_encodings=[self._offered] if self._offered else None)
        formats = [types.MarkupKind.Markdown if self._markdown else types.MarkupKind.PlainText]
        able = types.ClientCapabilities(
            general=general,
            workspace=types.WorkspaceClientCapabilities(
                workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=self._versioned)
            ),
            text_document=types.TextDocumentClientCapabilities(
                hover=types.HoverClientCapabilities(content_format=formats)
            ),
        )
        folder = types.WorkspaceFolder(self.folder.as_uri(), "work")
        started = await self._client.initialize_async(types.InitializeParams(able, workspace_folders=[folder]))
        assert started.capabilities.position_encoding == self.encoding
        self._client.initialized(types.InitializedParams())

    async def _stop(self) -> None:
        process = self.process
        assert process.stderr is not None
        if self._client.stopped:
            return
        if process.returncode is None:
            await self._client.shutdown_async(None)
            self._client.exit(None)
        self.stderr += await process.stderr.read()
        await self._client.stop()  # type: ignore[no-untyped-call]

    @property
    def process(self) -> asyncio.subprocess.Process:
        """The server."""
        process = self._client._server
        assert process is not None
        return process

    def _await(self, answer: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(answer, self._loop).result(_WAIT_S)

    def send(self, method: str, params: object) -> None:
        """Send a notification."""

        async def tell() -> None:
            self._client.protocol.notify(method, params)

        self._await(tell())

    def _on_diagnostics(self, params: types.PublishDiagnosticsParams) -> None:
        with self._heard:
            self.published.append(params)
            self._heard.notify_all()

    def _on_message(self, params: types.ShowMessageParams) -> None:
        with self._heard:
            self.messages.append(params.message)
            self._heard.notify_all()

    def stop(self) -> None:
        """Ask the server to end, and wait until it has."""
        self._await(self._stop())

    def vanish(self) -> None:
        """Close the connection without a word, and wait until the server has ended."""

        async def close() -> None:
            process = self.process
            assert process.stdin is not None
            process.stdin.close()
            await process.wait()

        self._await(close())

    # -- what a user does

    def uri(self, path: str) -> str:
        """The address of a file, given by its path in the folder."""
        return (self.folder / path).as_uri()

    def open(self, path: str, text: str | None = None) -> list[types.Diagnostic]:
        """Open a file, by default with what the disk has, and wait for its findings."""
        self.texts[path] = (self.folder / path).read_bytes().decode() if text is None else text
        self.versions[path] = self.versions.get(path, 0) + 1
        item = types.TextDocumentItem(self.uri(path), "markdown", self.versions[path], self.texts[path])
        self.send(types.TEXT_DOCUMENT_DID_OPEN, types.DidOpenTextDocumentParams(item))
        return self.diagnostics(path)

    def change(self, path: str, text: str, *, wait: bool = True) -> list[types.Diagnostic]:
        """Replace the text of a buffer, and wait for its findings."""
        self.texts[path] = text
        self.versions[path] += 1
        place = types.VersionedTextDocumentIdentifier(uri=self.uri(path), version=self.versions[path])
        params = types.DidChangeTextDocumentParams(place, [types.TextDocumentContentChangeWholeDocument(text)])
        self.send(types.TEXT_DOCUMENT_DID_CHANGE, params)
        return self.diagnostics(path) if wait else []

    def save(self, path: str) -> None:
        """Write a buffer to disk."""
        (self.folder / path).write_bytes(self.texts[path].encode())
        place = types.TextDocumentIdentifier(self.uri(path))
        self.send(types.TEXT_DOCUMENT_DID_SAVE, types.DidSaveTextDocumentParams(place))

    def close(self, path: str) -> None:
        """Close a buffer, and wait until its findings are gone."""
        before = len(self.published)
        place = types.TextDocumentIdentifier(self.uri(path))
        self.send(types.TEXT_DOCUMENT_DID_CLOSE, types.DidCloseTextDocumentParams(place))
        self.texts.pop(path)
        gone = self._wait(lambda: next((one for one in self.published[before:] if one.uri == self.uri(path)), None))
        assert not gone.diagnostics

    def forget(self) -> None:
        """Close every buffer, and forget what was said of them."""
        for path in list(self.texts):
            self.close(path)
        self.published.clear()

    def diagnostics(self, path: str) -> list[types.Diagnostic]:
        """Wait for the findings of the current version of a buffer."""
        version, uri = self.versions[path], self.uri(path)

        def found() -> types.PublishDiagnosticsParams | None:
            fitting = [one for one in self.published if one.uri == uri and one.version == version]
            return fitting[-1] if fitting else None

        return list(self._wait(found).diagnostics)

    def next_diagnostics(self, path: str, after: int) -> list[types.Diagnostic]:
        """Wait for findings of a file that come after a number of published ones."""
        uri = self.uri(path)
        found = self._wait(lambda: next((one for one in self.published[after:] if one.uri == uri), None))
        return list(found.diagnostics)

    def next_message(self) -> str:
        """Wait until the user is shown a message, and return the last."""
        found: str = self._wait(lambda: self.messages[-1] if self.messages else None)
        return found

    def _wait(self, found: Any) -> Any:
        with self._heard:
            assert self._heard.wait_for(lambda: found() is not None, _WAIT_S), "the server says nothing"
            return found()

    def hover(self, path: str, line: int, character: int) -> str | None:
        """Return what is shown at a place, from 0."""
        place = types.TextDocumentIdentifier(self.uri(path)), types.Position(line, character)
        shown = self._await(self._client.text_document_hover_async(types.HoverParams(*place)))
        if shown is None:
            return None
        assert isinstance(shown.contents, types.MarkupContent)
        return shown.contents.value

    def complete(self, path: str, line: int, character: int) -> dict[str, types.CompletionItem]:
        """Return what is offered at a place, from 0, by label."""
        place = types.TextDocumentIdentifier(self.uri(path)), types.Position(line, character)
        found: Any = self._await(self._client.text_document_completion_async(types.CompletionParams(*place)))
        return {item.label: item for item in found}

    def actions(self, path: str, where: types.Range | None = None, only: Sequence[str] | None = None) -> list[Any]:
        """Return the code actions of a range, by default of the whole file."""
        everything = types.Range(types.Position(0, 0), types.Position(self.texts[path].count("\n") + 1, 0))
        context = types.CodeActionContext([], only=only)
        asked = types.CodeActionParams(types.TextDocumentIdentifier(self.uri(path)), where or everything, context)
        found: Any = self._await(self._client.text_document_code_action_async(asked))
        return list(found or ())

    def apply(self, action: types.CodeAction) -> None:
        """Make the edits of an action in the buffers, and in files that are not open."""
        assert action.edit is not None
        plain = action.edit.changes or {}
        pairs: list[tuple[str, Any]] = list(plain.items())
        for change in action.edit.document_changes or ():
            assert isinstance(change, types.TextDocumentEdit)
            path = self._path(change.text_document.uri)
            assert change.text_document.version == (self.versions[path] if path in self.texts else None)
            pairs.append((change.text_document.uri, change.edits))
        for uri, made in pairs:
            path = self._path(uri)
            if path in self.texts:
                self.change(path, edited(self.texts[path], made, self.encoding), wait=False)
            else:
                file = self.folder / path
                file.write_bytes(edited(file.read_bytes().decode(), made, self.encoding).encode())

    def _path(self, uri: str) -> str:
        return Path(uris.to_fs_path(uri) or "").relative_to(self.folder).as_posix()


def offset(text: str, place: types.Position, encoding: str) -> int:
    """Return the character at a place, counted as an editor does."""
    codec, size = UNITS[encoding]
    lines = re.findall("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text)
    before = "".join(lines[: place.line])
    line = lines[place.line] if place.line < len(lines) else ""
    return len(before) + len(line.encode(codec)[: place.character * size].decode(codec))


def edited(text: str, edits: Sequence[Any], encoding: str) -> str:
    """Return a text with the edits of a server made, from the last to the first."""
    for edit in sorted(edits, key=lambda one: (one.range.start.line, one.range.start.character), reverse=True):
        start, stop = (offset(text, place, encoding) for place in (edit.range.start, edit.range.end))
        text = text[:start] + edit.new_text + text[stop:]
    return text


def quoted(text: str, place: types.Range, encoding: str = "utf-16") -> str:
    """Return the characters of a range."""
    return text[offset(text, place.start, encoding) : offset(text, place.end, encoding)]
