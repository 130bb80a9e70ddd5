"""A pooler between clients and a PostgreSQL server: another session for each transaction, as pgbouncer does it."""

from __future__ import annotations

import queue
import re
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_VERSION = 196608


@contextmanager
def pooler(target: int, database: str) -> Iterator[int]:
    """Pool two sessions of the server at the port `target`; gives the port where clients connect."""
    sessions: queue.SimpleQueue[_Stream] = queue.SimpleQueue()
    welcome = b""
    for _ in range(2):
        session = _Stream(socket.create_connection(("127.0.0.1", target)))
        words = f"user\0postgres\0database\0{database}\0\0".encode()
        session.end.sendall(struct.pack("!ii", len(words) + 8, _VERSION) + words)
        welcome = session.until_ready()
        sessions.put(session)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    client = _Stream(listener.accept()[0])
                    threading.Thread(target=_serve, args=(client, sessions, welcome), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for _ in range(2):
                sessions.get(timeout=10).end.close()


class _Stream:
    """One end of a connection, read message by message."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self._bytes = end.makefile("rb")

    def take(self, *, has_type: bool = True) -> bytes:
        """Return the next message.

        Raises:
            OSError: There is none any more.
        """
        head = self._bytes.read(5 if has_type else 4)
        if len(head) < 4:
            raise ConnectionResetError
        return head + self._bytes.read(struct.unpack("!i", head[-4:])[0] - 4)

    def until_ready(self) -> bytes:
        """Return what a server answers, up to that it is ready; the last byte says for what."""
        found = part = self.take()
        while part[:1] != b"Z":
            part = self.take()
            found += part
        return found


def _serve(client: _Stream, sessions: queue.SimpleQueue[_Stream], welcome: bytes) -> None:
    with client.end, suppress(OSError):
        first = client.take(has_type=False)
        while struct.unpack("!i", first[4:8])[0] != _VERSION:  # it asks for encryption
            client.end.sendall(b"N")
            first = client.take(has_type=False)
        if b"\0options\0" in first:
            refusal = b"SFATAL\0C08P01\0Munsupported startup parameter: options\0\0"
            client.end.sendall(b"E" + struct.pack("!i", len(refusal) + 4) + refusal)
            return
        client.end.sendall(re.sub(rb"K\0\0\0\x0c.{8}", b"K" + struct.pack("!iii", 12, 1, 1), welcome, flags=re.DOTALL))
        while (message := client.take())[:1] != b"X":
            session, state = sessions.get(), b""
            try:
                while state != b"I":
                    session.end.sendall(message)
                    if message[:1] in (b"Q", b"S"):
                        answers = session.until_ready()
                        client.end.sendall(answers)
                        state = answers[-1:]
                    message = client.take() if state != b"I" else b""
            finally:
                sessions.put(session)
