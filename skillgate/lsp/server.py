"""The language server: documents in, diagnostics, code actions, hovers and completions out.

One thread evaluates, so that the server answers meanwhile. A result for a text that has changed is dropped.
"""
# ruff: noqa: PTH118

from __future__ import annotations

import asyncio
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from skillgate import __version__
from skillgate.errors import SkillgateError
from skillgate.format import printable
from skillgate.lsp.analysis import Action, Analysis, Home, Options, home_of
from skillgate.lsp.completion import completions
from skillgate.lsp.hover import hover
from skillgate.lsp.text import Text
from skillgate.model.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import BinaryIO

    from pygls.workspace import TextDocument

    from skillgate.model.finding import Finding

T = TypeVar("T")
PAUSE_S = 0.15  # without a change, until a text is evaluated
FIX_ALL = "source.fixAll.skillgate"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
_KINDS = {
    "key": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.EnumMember,
    "file": types.CompletionItemKind.File,
    "folder": types.CompletionItemKind.Folder,
}
_WATCHED = ("**/.skillgate.yaml", "**/pyproject.toml")
_SUFFIXES = (".md", ".markdown")


class Server(LanguageServer):
    """The documents of one editor, and what was found in them."""

    def __init__(self, options: Options, log: Callable[[str], None]) -> None:
        """Store how to evaluate; ``log`` writes a line for the log of the editor."""
        # Whole texts: with ranges, the library would also end lines where the protocol does not.
        super().__init__("skillgate", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self._options = options
        self._log = log
        self._pool = ThreadPoolExecutor(1, "skillgate")
        self._tasks: dict[Home, asyncio.Task[None]] = {}
        self._analyses: dict[Home, Analysis] = {}
        self._said: set[str] = set()

    def report_server_error(self, error: Exception, source: Any) -> None:  # noqa: ANN401, ARG002
        """Log an error that no request waits for; its text may quote a skill, so only its place is written."""
        place = getattr(error, "data", None) or {}
        frames = [line for line in place.get("traceback", ()) if isinstance(line, str) and line.lstrip()[:4] == "File"]
        where = frames[-1].strip().split("\n")[0] if frames else ""
        self._log(f"internal error: {type(error).__name__} {where}; please report it")

    def stop(self) -> None:
        """End the thread that evaluates."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def document(self, uri: str) -> TextDocument | None:
        """Return an open document; one that is not open is never read."""
        found: TextDocument | None = self.workspace.text_documents.get(uri)
        return found

    def path(self, uri: str) -> str | None:
        """Return the absolute path of a Markdown file, links resolved but for its own name; None for anything else."""
        path = uris.to_fs_path(uri) if uri.startswith("file:") else None
        if not path or not path.lower().endswith(_SUFFIXES) or "\0" in path:
            return None
        folder, name = os.path.split(path)
        return os.path.join(os.path.realpath(folder), name)

    def home(self, uri: str) -> Home | None:
        """Return the skill of a document; None if it belongs to none."""
        path = self.path(uri)
        folders = [uris.to_fs_path(folder.uri) for folder in self.workspace.folders.values()]
        return None if path is None else home_of(path, [folder for folder in folders if folder])

    def text(self, source: str) -> Text:
        """Return a text with the columns of the editor."""
        return Text(source, str(getattr(encoding := self.workspace.position_encoding, "value", encoding)))

    async def in_thread(self, call: Callable[[], T]) -> T:
        """Call in the thread that evaluates."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    # -- evaluation

    def refresh(self, home: Home | None, pause_s: float = 0.0) -> None:
        """Evaluate a skill after a pause, instead of any evaluation of it that has not ended."""
        if home is None:
            return
        if (earlier := self._tasks.pop(home, None)) is not None:
            earlier.cancel()
        task = asyncio.get_running_loop().create_task(self._evaluate(home, pause_s))
        self._tasks[home] = task
        task.add_done_callback(self._ended)

    def refresh_all(self) -> None:
        """Evaluate every skill with an open document."""
        for home in {self.home(uri) for uri in self.workspace.text_documents}:
            self.refresh(home)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            frame = error.__traceback__
            while frame is not None and frame.tb_next is not None:
                frame = frame.tb_next
            where = "" if frame is None else f"{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}"
            self._log(f"internal error: {type(error).__name__} at {where}; please report it")

    def _open(self, home: Home) -> dict[str, TextDocument]:
        """Return the open documents of a skill by absolute path."""
        found = {}
        for uri, document in self.workspace.text_documents.items():
            path = self.path(uri)
            if path is not None and self.home(uri) == home:
                found[path] = document
        return found

    async def _evaluate(self, home: Home, pause_s: float) -> None:
        await asyncio.sleep(pause_s)
        documents = self._open(home)
        if not documents:
            self._analyses.pop(home, None)
            return
        texts = {path: document.source for path, document in documents.items()}
        versions = {path: document.version for path, document in documents.items()}
        try:
            analysis = await self.in_thread(partial(Analysis, home, texts, self._options))
        except SkillgateError as error:
            self._analyses.pop(home, None)
            self._say(f"{home.base}: {error}")
            for path, document in documents.items():
                self.publish(document.uri, versions[path], [])
            return
        for note in analysis.notes:
            if note not in self._said:
                self._said.add(note)
                self._log(note)
        self._analyses[home] = analysis
        for path, document in documents.items():
            if document.version == versions[path]:
                self.publish(
                    document.uri, versions[path], list(map(self._diagnostic(texts[path]), analysis.findings(path)))
                )

    def publish(self, uri: str, version: int | None, diagnostics: list[types.Diagnostic]) -> None:
        """Send the diagnostics of a document."""
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))

    def _say(self, message: str) -> None:
        """Show a message to the user, once."""
        if message not in self._said:
            self._said.add(message)
            shown = "\n".join(map(printable, message.split("\n")))
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, shown))

    async def analysis(self, uri: str) -> tuple[Analysis, str] | None:
        """Return what is known of the current text of a document, and its path; wait while it is evaluated."""
        home, path = self.home(uri), self.path(uri)
        if home is None or path is None:
            return None
        while (task := self._tasks.get(home)) is not None and not task.done():
            await asyncio.wait([task])
        analysis, document = self._analyses.get(home), self.document(uri)
        if analysis is None or document is None or analysis.texts.get(path) != document.source:
            return None
        return analysis, path

    # -- values of the protocol

    def _range(self, text: Text, start: int, stop: int) -> types.Range:
        return types.Range(types.Position(*text.place(start)), types.Position(*text.place(stop)))

    def _diagnostic(self, source: str) -> Callable[[Finding], types.Diagnostic]:
        text = self.text(source)

        def diagnostic(finding: Finding) -> types.Diagnostic:
            fix = f"\nFix: {printable(finding.fix)}" if finding.fix else ""
            return types.Diagnostic(
                range=self._range(text, *text.finding(finding.line, finding.column)),
                message=printable(finding.message) + fix,
                severity=_SEVERITIES[finding.severity],
                code=finding.id,
                code_description=types.CodeDescription(finding.url) if finding.url else None,
                source="skillgate",
            )

        return diagnostic

    def code_action(self, action: Action, kind: str, analysis: Analysis) -> types.CodeAction:
        """Turn a change into edits of documents, each with its version."""
        open_uris = {self.path(uri): uri for uri in self.workspace.text_documents}
        changes: list[tuple[types.OptionalVersionedTextDocumentIdentifier, list[types.TextEdit]]] = []
        for path, made in action.edits.items():
            uri = open_uris.get(path) or uris.from_fs_path(path) or ""
            document, text = self.document(uri), self.text(analysis.text(path))
            where = types.OptionalVersionedTextDocumentIdentifier(uri, document.version if document else None)
            changes.append((where, [types.TextEdit(self._range(text, one.start, one.stop), one.text) for one in made]))
        workspace = self.client_capabilities.workspace
        if workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes:
            versioned = [types.TextDocumentEdit(where, list(made)) for where, made in changes]
            edit = types.WorkspaceEdit(document_changes=list(versioned))
        else:
            edit = types.WorkspaceEdit(changes={where.uri: made for where, made in changes})
        found = action.finding
        own = [] if found is None else [self._diagnostic(analysis.text(analysis.path(str(found.path))))(found)]
        title = printable(action.title)
        return types.CodeAction(title, kind, own or None, is_preferred=action.preferred or None, edit=edit)

    async def code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction] | None:
        """List what fixes or suppresses the findings in a range, and what fixes the document."""
        found = await self.analysis(params.text_document.uri)
        if found is None:
            return None
        analysis, path = found
        text = self.text(analysis.texts[path])
        first, last = (text.offset((place.line, place.character)) for place in (params.range.start, params.range.end))
        near = []
        for finding in analysis.findings(path):
            start, stop = text.finding(finding.line, finding.column)
            if start <= last and first <= stop:
                near.append(finding)
        made = await self.in_thread(partial(_actions, analysis, path, near, params.context.only))
        return [self.code_action(action, kind, analysis) for action, kind in made]

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Show what is known of a place."""
        found = await self.analysis(params.text_document.uri)
        if found is None:
            return None
        analysis, path = found
        row = params.position.line
        column = self.text(analysis.texts[path]).column((row, params.position.character))
        client = self.client_capabilities.text_document
        formats = (client.hover.content_format if client and client.hover else None) or ()
        markdown = types.MarkupKind.Markdown in formats
        shown = await self.in_thread(partial(hover, analysis, path, row, column, markdown=markdown))
        kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
        return types.Hover(types.MarkupContent(kind, shown)) if shown else None

    def completions(self, params: types.CompletionParams) -> list[types.CompletionItem]:
        """List what may be inserted at a place."""
        uri, place = params.text_document.uri, (params.position.line, params.position.character)
        document, home, path = self.document(uri), self.home(uri), self.path(uri)
        if document is None or home is None or path is None:
            return []
        text = self.text(document.source)
        offset = text.offset(place)
        file = os.path.relpath(path, home.folder).replace(os.sep, "/")
        return [
            types.CompletionItem(
                one.label,
                kind=_KINDS[one.kind],
                detail=one.detail or None,
                documentation=one.about or None,
                sort_text=f"{index:04}",
                text_edit=types.TextEdit(self._range(text, offset - one.replaced, offset), one.text),
            )
            for index, one in enumerate(completions(text, place[0], text.column(place), home.folder, file))
        ]


def _wants(only: Sequence[types.CodeActionKind | str] | None, kind: str) -> bool:
    names = [str(getattr(one, "value", one)) for one in only or ()]
    return only is None or any(kind == name or kind.startswith(f"{name}.") or not name for name in names)


def _actions(
    analysis: Analysis, path: str, findings: Iterable[Finding], only: Sequence[str] | None
) -> list[tuple[Action, str]]:
    """Return the actions for findings, each with its kind."""
    found: list[tuple[Action | None, str]] = []
    for finding in findings if _wants(only, "quickfix") else ():
        found += [(analysis.fixes(finding), "quickfix"), (analysis.suppression(finding), "quickfix")]
    if _wants(only, FIX_ALL):
        found.append((analysis.fix_all(path), FIX_ALL))
    return [(action, kind) for action, kind in found if action is not None]


def _follow_documents(server: Server) -> None:
    """Register what evaluates documents."""

    @server.feature(types.INITIALIZED)
    def initialized(_params: types.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watching = workspace and workspace.did_change_watched_files
        if watching and watching.dynamic_registration:
            options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(one) for one in _WATCHED])
            wanted = types.Registration("watched", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            server.client_register_capability(types.RegistrationParams([wanted]))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(_params: types.DidChangeWatchedFilesParams) -> None:
        server.refresh_all()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        server.refresh(server.home(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        server.refresh(server.home(params.text_document.uri), PAUSE_S)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(_params: types.DidSaveTextDocumentParams) -> None:
        server.refresh_all()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        server.publish(params.text_document.uri, None, [])
        server.refresh(server.home(params.text_document.uri))


def _answer_requests(server: Server) -> None:
    """Register what answers an editor."""
    offered = types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL])
    typed = types.CompletionOptions(trigger_characters=["(", "/", ":", " "])

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def text_hover(params: types.HoverParams) -> types.Hover | None:
        return await server.hover(params)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, offered)
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        return await server.code_actions(params)

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, typed)
    def completion(params: types.CompletionParams) -> list[types.CompletionItem]:
        return server.completions(params)


def serve(options: Options, log: Callable[[str], None], stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Answer an editor until it ends the connection."""
    logger = logging.getLogger("pygls")  # it would write what it cannot handle, which may be a whole text
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    server = Server(options, log)
    _follow_documents(server)
    _answer_requests(server)
    try:
        server.start_io(stdin, stdout)
    finally:
        server.stop()
