"""A pooler between clients and a PostgreSQL server: another session for each transaction, as pgbouncer does it."""

from __future__ import annotations

import queue
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_SSL_REQUEST = 80877103
_SESSIONS = 2
_IDLE = b"I"


@contextmanager
def pooler(target: int, database: str) -> Iterator[int]:
    """Pool two sessions of the server at the port `target`; gives the port where clients connect."""
    sessions: queue.SimpleQueue[_Stream] = queue.SimpleQueue()
    ends: list[_Stream] = []
    for _ in range(_SESSIONS):
        session = _Stream(socket.create_connection(("127.0.0.1", target)))
        words = b"".join(word.encode() + b"\0" for word in ("user", "postgres", "database", database)) + b"\0"
        session.send(struct.pack("!ii", len(words) + 8, 196608) + words)
        welcome = session.until_ready()
        sessions.put(session)
        ends.append(session)
    told = b"".join(part for part in welcome if part[:1] == b"S")  # parameters, without the key of the session

    def serve(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client = _Stream(listener.accept()[0])
                ends.append(client)
                threading.Thread(target=_serve, args=(client, sessions, told), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for end in ends:
                end.close()


class _Stream:
    """One end of a connection, and what came from it and was not yet taken."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self.came = b""

    def send(self, data: bytes) -> None:
        self.end.sendall(data)

    def take(self, *, has_type: bool = True) -> bytes:
        """Return the next whole message.

        Raises:
            OSError: There is none any more.
        """
        head = 1 if has_type else 0
        self._fill(head + 4)
        size = head + struct.unpack("!i", self.came[head : head + 4])[0]
        self._fill(size)
        message, self.came = self.came[:size], self.came[size:]
        return message

    def _fill(self, size: int) -> None:
        while len(self.came) < size:
            more = self.end.recv(65536)
            if not more:
                raise ConnectionResetError
            self.came += more

    def until_ready(self) -> list[bytes]:
        """Return the answers of a server up to the one that it is ready."""
        found = [self.take()]
        while found[-1][:1] != b"Z":
            found.append(self.take())
        return found

    def close(self) -> None:
        with suppress(OSError):
            self.end.shutdown(socket.SHUT_RDWR)
        self.end.close()


def _serve(client: _Stream, sessions: queue.SimpleQueue[_Stream], told: bytes) -> None:
    with suppress(OSError):
        first = client.take(has_type=False)
        if struct.unpack("!i", first[4:8])[0] == _SSL_REQUEST:
            client.send(b"N")
            first = client.take(has_type=False)
        if b"\0options\0" in first:
            refusal = b"SFATAL\0C08P01\0Munsupported startup parameter: options\0\0"
            client.send(b"E" + struct.pack("!i", len(refusal) + 4) + refusal)
            client.close()
            return
        key = b"K" + struct.pack("!iii", 12, 1, 1)  # its own: no process of the server has this number
        client.send(b"R" + struct.pack("!ii", 8, 0) + told + key + b"Z" + struct.pack("!i", 5) + _IDLE)
        while (message := client.take())[:1] != b"X":
            session = sessions.get()
            try:
                state = b""
                while state != _IDLE:
                    session.send(message)
                    if message[:1] in (b"Q", b"S"):
                        answers = session.until_ready()
                        client.send(b"".join(answers))
                        state = answers[-1][-1:]
                    if state != _IDLE:
                        message = client.take()
            finally:
                sessions.put(session)
