"""Frames that are no message: the client is told at once, because the SDK drops them and their call would hang."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCRequest, JSONRPCResponse
from pydantic import ValidationError

_LAST_WORDS = 5.0
"""Seconds for which a client that has closed its end may still get what it asked before."""


class _Around:
    """One stream of a transport, closed with what stands around it."""

    def __init__(self, stream: ReadStream[SessionMessage | Exception] | WriteStream[SessionMessage]) -> None:
        self._stream = stream

    async def aclose(self) -> None:
        """Close the transport's stream."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class AnsweredFrames(_Around):
    """The messages of a transport's stream; frames that are none are answered with the error JSON-RPC has for them."""

    def __init__(self, read: ReadStream[SessionMessage | Exception], write: WriteStream[SessionMessage]) -> None:
        super().__init__(read)
        self._read = read
        self._write = write
        self._owed: set[int | str] = set()
        self._answered = anyio.Event()

    @property
    def last_context(self) -> Any:
        """Context of the sender of the last message, which the SDK looks for beside the stream."""
        return getattr(self._read, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """The next message, or a failure of the transport that is no bad frame.

        Raises:
            anyio.EndOfStream: The client has closed its end, and what it asked before was answered.
        """
        while True:
            try:
                item = await self._read.receive()
            except anyio.EndOfStream:
                await self._answer_the_last()
                raise
            if isinstance(item, SessionMessage):
                self._note_question(item)
            if not isinstance(item, ValidationError):
                return item
            for answer in refusals(item):
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # nobody is there to be told
                    await self._write.send(SessionMessage(answer))

    def note_answer(self, item: SessionMessage) -> None:
        """Take notice of what goes to the client."""
        if isinstance(item.message, JSONRPCResponse | JSONRPCError) and item.message.id is not None:
            self._owed.discard(item.message.id)
            self._answered.set()

    def _note_question(self, item: SessionMessage) -> None:
        # A tool may wait for a human, and whoever called it is gone when its end is closed.
        if isinstance(item.message, JSONRPCRequest) and item.message.method != "tools/call":
            self._owed.add(item.message.id)

    async def _answer_the_last(self) -> None:
        """Hold the end back until it is all answered: the SDK drops with it what is still being answered."""
        with anyio.move_on_after(_LAST_WORDS):
            while self._owed:
                self._answered = anyio.Event()
                await self._answered.wait()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class NotedAnswers(_Around):
    """The stream to the client, of which `frames` hears what it carries."""

    def __init__(self, write: WriteStream[SessionMessage], frames: AnsweredFrames) -> None:
        super().__init__(write)
        self._write = write
        self._frames = frames

    async def send(self, item: SessionMessage, /) -> None:
        """Send it, then say so."""
        await self._write.send(item)
        self._frames.note_answer(item)


def refusals(error: ValidationError) -> list[JSONRPCError]:
    """The answers to a frame that is no message: one per call in it; none to a blank line and to a client's answer."""
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        text = first["input"]
        if not text.strip():
            return []
        frame, refusal = _leniently(text), ErrorData(code=PARSE_ERROR, message=f"Parse error: {first['msg']}")
    else:
        frame = _frame(error)
        what = "a batch; send one message a line" if isinstance(frame, list) else "no JSON-RPC 2.0 message"
        refusal = ErrorData(code=INVALID_REQUEST, message=f"Invalid request: {what}")
    if isinstance(frame, dict) and "method" not in frame and ("result" in frame or "error" in frame):
        return []  # its id is one of ours: an error with it would end some call of the client's
    ids: list[int | str | None] = [*dict.fromkeys(_ids(frame))] or [None]
    return [JSONRPCError(jsonrpc="2.0", id=known, error=refusal) for known in ids]


def _leniently(text: str) -> Any:
    """What Python makes of text that is no strict JSON, such as with half a character in it; None for nothing."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # an input of "[[[[..." is deeper than Python reads
        return None


def _frame(error: ValidationError) -> Any:
    """The whole value: that which lacks a field of a message, or is of no form that a message has."""
    return next(
        (
            problem["input"]
            for problem in error.errors(include_url=False)
            if (problem["type"], len(problem["loc"])) in (("missing", 2), ("model_type", 1))
        ),
        None,
    )


def _ids(frame: Any) -> Iterator[int | str]:
    for call in frame if isinstance(frame, list) else [frame]:
        known = call.get("id") if isinstance(call, dict) and "method" in call else None
        if isinstance(known, str):
            if not any("\ud800" <= letter <= "\udfff" for letter in known):  # writing it would end the server
                yield known
        elif isinstance(known, int) and not isinstance(known, bool):
            yield known
