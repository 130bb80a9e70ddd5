"""Start of `team-console mcp`: the SDK, which takes a second and 60 MB, is imported once a client calls a tool.

All lines pass through here, in both directions. Four promises are kept by that: what a client asks before it calls a
tool has its answer at once, from a file that a test compares with what the SDK says; a client that calls nothing starts
no server; whatever was read before the input ended is answered before the server ends; and where the server cannot
start, each call says why.
"""

from __future__ import annotations

import json
import os
import re
import select
import sys
import threading
from collections.abc import Callable, Sequence

from team_console import __version__

TYPE_CHECKING = False  # `typing` would cost each start 5 ms
if TYPE_CHECKING:
    from typing import Any

ANSWERS = os.path.join(os.path.dirname(__file__), "answers.json")
"""What clients are answered before they call a tool; `python -m tests.mcp.answers` writes it."""
_GREETS_NOBODY = "2026-07-28"
"""The version in which each request says by itself what it needs, and how it says which version it speaks."""
_VERSION, _SUBSCRIPTION = "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/subscriptionId"
_LISTS = frozenset(("toolsListChanged", "promptsListChanged", "resourcesListChanged"))
"""What never changes here: whoever subscribes to it alone hears that it is subscribed, and no more."""
_LAST_ANSWERS = 60.0
"""Seconds for which calls are waited for once the input has ended: longer than any of them takes."""
_MOST_READ = 1 << 16
"""Bytes that are read at a time."""
_BRACKETS = re.compile(rb"[\[\]{}]")
_DEEPEST = 100
"""Brackets within brackets that the SDK reads in any case: what is deeper it leaves without an answer."""
_PARSE_ERROR, _INVALID_REQUEST, _INVALID_PARAMS, _INTERNAL_ERROR = -32700, -32600, -32602, -32603
"""Error codes of JSON-RPC 2.0."""


def run_mcp(words: Sequence[str], run: Callable[[Sequence[str]], int]) -> int:
    """Serve a client by the verb that `run` runs; returns its exit status."""
    relay = Relay()
    relay.begin()
    status = run(words) if relay.needs_server() else 0
    relay.end(status)
    return status


_start_errors: list[str] = []
"""Why the server of this process cannot start."""


def keep_start_error(error: str) -> None:
    """Keep why the server cannot start, for the calls of a client that was greeted already."""
    _start_errors.append(error)


class Relay:
    """Hands lines on between a client and the server in this process, which has pipes in place of both.

    The main thread runs the server. Three others read the client, write to the server and read the server; what they
    share is changed under `_changed`, which tells the others.

    Attributes:
        _needs_server: A request came that only the server can answer.
        _input_ended: The client sends no more, and what it asked is answered.
        _client_is_gone: Nobody reads the answers.
        _open_calls: Id of a request, as JSON -> how many of that id the server has and has not answered.
        _greetings: Ids of greetings that were answered here; the server's own answers to them are dropped.
        _for_server: Lines that wait to be written to the server.
        _prepared: Method -> the answer to it, in the version of the protocol that the client speaks; empty until the
            client's first request says which.
        _failure: Why the server ended without being asked to; empty while it has not.
    """

    def __init__(self) -> None:
        self._client_input, self._client_output = os.dup(0), os.dup(1)
        from_client, self._to_server = os.pipe()
        self._from_server, to_client = os.pipe()
        os.dup2(from_client, 0)
        os.dup2(to_client, 1)
        os.close(from_client)
        os.close(to_client)
        self._changed = threading.Condition()
        self._needs_server = os.isatty(self._client_input)  # a human sees at once what is missing
        self._input_ended = self._client_is_gone = False
        self._open_calls: dict[str, int] = {}
        self._greetings: set[str] = set()
        self._for_server: list[bytes] = []
        self._prepared: dict[str, Any] = {}
        self._failure = ""
        self._is_first_request = True
        self._writing = threading.Lock()
        self._client_reader, self._server_reader = _thread(self._read_client), _thread(self._read_server)

    def begin(self) -> None:
        """Begin to hand lines on."""
        for thread in (self._client_reader, _thread(self._feed_server), self._server_reader):
            thread.start()

    def needs_server(self) -> bool:
        """Wait until only the server can answer, or the input ends; return whether the server is to be run.

        It runs, too, for a client that ended before it was greeted: it says what is missing for a start.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._needs_server or self._input_ended)
            return self._needs_server or not self._prepared

    def end(self, status: int) -> None:
        """Finish once the server has ended; where it failed after its client was greeted, stay and say so to each
        call.
        """
        sys.stdout.flush()
        os.dup2(self._client_output, 1)
        if not status:
            return
        self._server_reader.join()  # what it printed, for no server holds the pipe open
        with self._changed:
            self._failure = "; ".join(_start_errors) or "the server of team-console ended: its standard error says why"
            unanswered = [key for key, count in self._open_calls.items() for _ in range(count)]
            self._open_calls.clear()
        for key in unanswered:
            if key not in self._greetings:
                self._refuse(json.loads(key), _INTERNAL_ERROR, self._failure)
        with self._changed:
            self._changed.notify_all()
        if self._prepared:
            self._client_reader.join()

    # From the client.

    def _read_client(self) -> None:
        """Take the lines of the client until its input ends, then wait for the answers that are under way."""
        rest = b""
        while data := self._read(self._client_input):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._take_line(line)
        self._take_line(rest)
        threading.Thread(target=self._notice_client_gone, daemon=True).start()
        with self._changed:
            # guard: mcp-answers-before-it-ends
            self._changed.wait_for(
                lambda: not (self._open_calls and self._needs_server) or self._client_is_gone, _LAST_ANSWERS
            )
            self._input_ended = True
            self._changed.notify_all()

    def _take_line(self, line: bytes) -> None:
        """Answer a line of the client, or hand it on."""
        if not line.strip():
            return
        try:
            frame = json.loads(line.decode("utf-8", "replace"), parse_constant=_refuse_constant)
            if _nesting_depth(line) > _DEEPEST:
                raise RecursionError
        except (ValueError, RecursionError):
            self._refuse(None, _PARSE_ERROR, "This line is no JSON, or nested too deeply.")
            return
        identity = frame.get("id") if isinstance(frame, dict) else None
        is_answer = isinstance(frame, dict) and "method" not in frame and ("result" in frame or "error" in frame)
        if not is_answer and not _is_message(frame):
            words = "This line is no request or notification of JSON-RPC 2.0."
            self._refuse(identity if _is_identity(identity) else None, _INVALID_REQUEST, words)
        elif _has_half_a_character(line, frame):
            # guard: mcp-half-character-answered
            if "id" in frame and not is_answer:
                words = "A text in it has half a character: a surrogate without its pair."
                self._refuse(identity, _INVALID_PARAMS, words)
        elif is_answer or "id" not in frame:
            if frame.get("method") == "notifications/cancelled":
                self._forget_call(frame)
            self._hand_to_server(line)
        else:
            self._take_request(line, frame)

    def _take_request(self, line: bytes, frame: dict[str, Any]) -> None:
        """Answer a request here, or hand it on; a greeting both, for the server has to know it."""
        key, identity = json.dumps(frame["id"]), frame["id"]
        result = self._prepared_answer(frame)
        if result is None and self._prepared and _is_quiet_subscription(frame):
            told = {"_meta": {_SUBSCRIPTION: identity}, "notifications": frame["params"]["notifications"]}
            self._write({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": told})
            return
        is_greeting = result is not None and frame["method"] == "initialize"
        is_for_server = result is None or is_greeting
        with self._changed:
            failure = self._failure
            if is_for_server and not failure:
                self._open_calls[key] = self._open_calls.get(key, 0) + 1
            if is_greeting:
                self._greetings.add(key)
            self._needs_server = self._needs_server or result is None
            self._changed.notify_all()
        if result is not None:
            self._write({"jsonrpc": "2.0", "id": identity, "result": result})
        elif failure:
            self._refuse(identity, _INTERNAL_ERROR, failure)
        if is_for_server and not failure:
            self._hand_to_server(line)

    def _prepared_answer(self, frame: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a request that needs no server; None for any other.

        The first request says which version of the protocol is spoken: a greeting names it, and so does whoever
        speaks the version without greetings.
        """
        method, given = frame["method"], frame.get("params") or {}
        is_first, self._is_first_request = self._is_first_request, False
        about = given.get("_meta")
        if method == "initialize" and is_first and _is_greeting(given):
            answers = _load_answers()
            if given["protocolVersion"] not in answers["versions"]:
                return None
            self._prepared = answers["greeted"]
            return {"protocolVersion": given["protocolVersion"], **self._prepared["initialize"]}
        if is_first and isinstance(about, dict) and about.get(_VERSION) == _GREETS_NOBODY:
            self._prepared = _load_answers()[_GREETS_NOBODY]
        answer: dict[str, Any] | None = self._prepared.get(method) if set(given) <= {"_meta"} else None
        return answer

    def _forget_call(self, frame: dict[str, Any]) -> None:
        """Wait no longer for the answer to a call that its client gave up."""
        given = frame.get("params")
        identity = given.get("requestId") if isinstance(given, dict) else None
        with self._changed:
            self._open_calls.pop(json.dumps(identity), None)
            self._changed.notify_all()

    def _notice_client_gone(self) -> None:
        """Wait until nobody reads the output any more."""
        waiting = select.poll()
        waiting.register(self._client_output, 0)
        waiting.poll()
        self._lose_client()

    def _lose_client(self) -> None:
        with self._changed:
            self._client_is_gone = True
            self._changed.notify_all()

    # To the server, and from it.

    def _hand_to_server(self, line: bytes) -> None:
        with self._changed:
            self._for_server.append(line)
            self._changed.notify_all()

    def _feed_server(self) -> None:
        """Write the lines that wait to the server, until the input has ended and none is left."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._for_server or self._input_ended)
                lines, self._for_server = self._for_server, []
            if not lines:
                os.close(self._to_server)
                return
            try:
                _write_all(self._to_server, b"".join(line + b"\n" for line in lines))
            except OSError:
                return

    def _read_server(self) -> None:
        """Return what the server says to the client, until the server ends."""
        rest = b""
        while data := self._read(self._from_server):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._return_to_client(line)
        if rest:
            self._write_line(rest)

    def _return_to_client(self, line: bytes) -> None:
        """Write a line of the server for the client, but for an answer that it has."""
        try:
            frame = json.loads(line)
        except ValueError:
            frame = None
        is_answer = isinstance(frame, dict) and "method" not in frame
        key = json.dumps(frame["id"]) if is_answer and "id" in frame else ""
        if key in self._greetings:
            self._greetings.discard(key)
        else:
            self._write_line(line)
        with self._changed:
            if key in self._open_calls:
                self._open_calls[key] -= 1
                if not self._open_calls[key]:
                    del self._open_calls[key]
            self._changed.notify_all()

    def _refuse(self, identity: object, code: int, words: str) -> None:
        self._write({"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": words}})

    def _write(self, frame: dict[str, Any]) -> None:
        self._write_line(json.dumps(frame).encode())

    def _write_line(self, line: bytes) -> None:
        """Write a line to the client, from either thread."""
        try:
            with self._writing:  # one line after the other, from both threads
                _write_all(self._client_output, line + b"\n")
        except OSError:
            self._lose_client()

    @staticmethod
    def _read(descriptor: int) -> bytes:
        """Return the next bytes; empty at the end, and where nothing can be read."""
        try:
            return os.read(descriptor, _MOST_READ)
        except OSError:
            return b""


def _thread(act: Callable[[], None]) -> threading.Thread:
    """Return a thread that does `act`, which keeps no process from ending."""
    return threading.Thread(target=act, name=act.__name__, daemon=True)


def _is_message(frame: object) -> bool:
    """Return whether a frame is a request or a notification as the protocol has them."""
    if not isinstance(frame, dict) or frame.get("jsonrpc") != "2.0" or not isinstance(frame.get("method"), str):
        return False
    return _is_identity(frame.get("id", "")) and isinstance(frame.get("params") or {}, dict)


def _is_identity(given: object) -> bool:
    """Return whether the protocol lets a call be named so."""
    return isinstance(given, (str, int)) and not isinstance(given, bool)


def _is_greeting(given: dict[str, Any]) -> bool:
    """Return whether these are the parameters of `initialize` as the protocol has them."""
    client = given.get("clientInfo")
    return (
        isinstance(given.get("protocolVersion"), str)
        and isinstance(given.get("capabilities"), dict)
        and isinstance(client, dict)
        and isinstance(client.get("name"), str)
        and isinstance(client.get("version"), str)
    )


def _is_quiet_subscription(frame: dict[str, Any]) -> bool:
    """Return whether a request subscribes only to what never changes here."""
    given = frame.get("params") or {}
    wanted = given.get("notifications")
    return frame["method"] == "subscriptions/listen" and isinstance(wanted, dict) and wanted.keys() <= _LISTS


def _has_half_a_character(line: bytes, frame: object) -> bool:
    """Return whether a text in a frame has a surrogate without its pair, which the SDK cannot write."""
    if b"\\ud" not in line.lower():
        return False
    try:
        json.dumps(frame, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is no number in JSON")


def _nesting_depth(line: bytes) -> int:
    """Return how many brackets stand open at most, those in texts counted as well."""
    depth = deepest = 0
    for mark in _BRACKETS.findall(line):
        depth += 1 if mark in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _load_answers() -> dict[str, Any]:
    with open(ANSWERS, encoding="utf-8") as file:
        found: dict[str, Any] = json.loads(file.read().replace('"version": ""', f'"version": "{__version__}"'))
    return found


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
