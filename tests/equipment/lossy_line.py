"""A line to a PostgreSQL server that is cut in the commit: before the server has it, or after it was done."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

_COMMIT = b"Q\x00\x00\x00\x0bCOMMIT\x00"


@dataclass
class LossyLine:
    """Passes on everything between clients and the server at the port `target`, until it is told to fail.

    Attributes:
        port: Where clients connect.
        cuts: How often the line is still to be cut at a commit, if there is `when`.
        when: `before` the server has the commit, `after` it has answered, or `meanwhile`: as soon as it has it.
        stays_down: Whether new connections are closed at once after a cut, until `is_down` is taken back.
        done: How often the line was cut.
    """

    target: int
    when: str = "after"
    cuts: int = 0
    stays_down: bool = False
    is_down: bool = False
    done: int = 0
    port: int = 0
    _ends: list[socket.socket] = field(default_factory=list)
    _muted: bool = False

    def serve(self, listener: socket.socket) -> None:
        """Accept until the listener is closed."""
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                if self.is_down:
                    client.close()
                    continue
                server = socket.create_connection(("127.0.0.1", self.target))
                self._ends += [client, server]
                for work in (self._send, self._answer):
                    threading.Thread(target=work, args=(client, server), daemon=True).start()

    def close(self) -> None:
        """Cut all connections."""
        _cut(*self._ends)
        for end in self._ends:
            end.close()

    def _send(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                is_cut = self.cuts > 0 and data.endswith(_COMMIT)
                if is_cut:
                    self.cuts -= 1
                    self.done += 1
                    self.is_down = self.stays_down
                if not is_cut or self.when != "before":
                    self._muted = is_cut
                    server.sendall(data)
                if is_cut and self.when != "after":
                    break
        _cut(client, server)

    def _answer(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if self._muted:
                    self._muted = False
                    break
                client.sendall(data)
        _cut(client, server)


@contextmanager
def lossy_line(port: int) -> Iterator[LossyLine]:
    """A line to the server, open for the block."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        line = LossyLine(port, port=listener.getsockname()[1])
        accepting = threading.Thread(target=line.serve, args=(listener,), daemon=True)
        accepting.start()
        try:
            yield line
        finally:
            _cut(listener)
            line.close()
            accepting.join(10)


def _cut(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
