"""A scripted model on the loopback: answers Anthropic's Messages, OpenAI's Responses and Chat Completions as streams.

Nothing is remembered between calls: which turn comes next is told by how many turns the conversation holds already,
so a call that is made again gets the same answer.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from types import TracebackType
from typing import Any

from tests.proofs.clients import anthropic_stream, chat_stream, openai_stream
from tests.proofs.clients.turns import Call, Conversation, Play, Say, Turn

Script = Mapping[str, Sequence[Play]]
"""A phrase of a conversation's first words -> the model's turns in it; "" is the script of all others."""
_DONE: Turn = (Say("Done."),)


@dataclass(frozen=True, slots=True)
class _Door:
    """A way to speak to the model: how its requests are read and its turns are written."""

    read: Callable[[Mapping[str, Any]], Conversation]
    write: Callable[[Turn, str], Iterator[str]]


_DOORS = {
    "/v1/messages": _Door(anthropic_stream.conversation, anthropic_stream.events),
    "/v1/responses": _Door(openai_stream.conversation, openai_stream.events),
    "/v1/chat/completions": _Door(chat_stream.conversation, chat_stream.events),
}


class ScriptedModel:
    """The server, in a thread of its own while its `with` block lasts.

    Attributes:
        heard: Every conversation it was asked to go on with, in order; the newest of a session tells it whole.
        stray: Requests that belong to no door, as `METHOD path`.
        problems: What went wrong in turns that are functions of a test.
    """

    def __init__(self, script: Script) -> None:
        self.heard: list[Conversation] = []
        self.stray: list[str] = []
        self.problems: list[str] = []
        self._script = script
        self._numbers = count(1)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True

    def __enter__(self) -> ScriptedModel:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self) -> str:
        """Where it listens, as `http://127.0.0.1:PORT`."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def results(self) -> list[str]:
        """What the model was told its tool calls gave, each once, in the order it first came."""
        return list(dict.fromkeys(text for conversation in self.heard for text in conversation.results))

    @property
    def told(self) -> str:
        """Every text that was ever put before the model."""
        return "\n".join(dict.fromkeys(text for conversation in self.heard for text in conversation.texts))

    def turn(self, conversation: Conversation) -> Turn:
        """The model's next turn in this conversation."""
        self.heard.append(conversation)
        if not conversation.tools:
            return (Say("A conversation"),)
        first = conversation.opening
        name = next((phrase for phrase in self._script if phrase and phrase in first), "")
        turns = self._script.get(name, ())
        if conversation.turns >= len(turns):
            return _DONE
        turn = turns[conversation.turns]
        try:
            made = turn(conversation) if callable(turn) else turn
            return (made,) if isinstance(made, Say | Call) else made
        except Exception as error:  # it would be taken for a fault of the network, and tried again for minutes
            self.problems.append(f"{type(error).__name__}: {error}; told was {conversation.texts[-1:]}")
            return (Say("The script of the test failed."),)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self._answer(200, "text/plain", b"")

            def do_GET(self) -> None:
                model.stray.append(f"GET {self.path}")
                self._answer(404, "application/json", b"{}")

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
                path = self.path.partition("?")[0]
                if path == "/v1/messages/count_tokens":
                    self._answer(200, "application/json", b'{"input_tokens": 1}')
                elif path in _DOORS:
                    self._stream(_DOORS[path], body)
                else:
                    model.stray.append(f"POST {self.path}")
                    self._answer(404, "application/json", b"{}")

            def _stream(self, door: _Door, body: Mapping[str, Any]) -> None:
                turn = model.turn(door.read(body))
                text = "".join(door.write(turn, f"{next(model._numbers):06d}"))
                self._answer(200, "text/event-stream", text.encode())

            def _answer(self, status: int, kind: str, data: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler
