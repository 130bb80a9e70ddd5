"""A slow and busy machine, as a plugin of pytest: what runs beside a test takes a while, each time another one.

    python -m pytest -n 0 -p tests.delays --delays 1 tests/console

Threads begin and end late, and so come timers and messages of the screen's widgets; command lines that a test starts
are as slow, and begin late. The delays are drawn from the seed and the name of a test. One that acts or looks once
where it should wait fails under some seed.
"""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from random import Random
from time import sleep  # a test may put another into `time`
from typing import TYPE_CHECKING, Any

from textual.message_pump import MessagePump
from textual.timer import Timer

from tests.equipment.forked import SEED

if TYPE_CHECKING:
    import pytest

_THREAD, _TIMER, _MESSAGE = 0.05, 0.03, 0.03
"""Seconds that each takes at most."""
_START = 0.5
"""Seconds until a command line begins at most."""
_LATE_MESSAGES = 0.05
"""Share of messages that come late."""


class Delays:
    """Delays drawn from a seed, put where a machine would be slow."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._random = Random(seed)

    def begin(self, name: str) -> None:
        """Draw anew for the test of that name."""
        self._random = Random(f"{self._seed}:{name}")

    def install(self) -> None:
        """Make threads, timers and messages of this process late."""
        self._wrap(ThreadPoolExecutor, "submit", self._submitted)
        self._wrap(threading.Thread, "run", self._run)
        self._wrap(Timer, "_tick", functools.partial(self._late, most=_TIMER, share=1.0))
        self._wrap(MessagePump, "_dispatch_message", functools.partial(self._late, most=_MESSAGE, share=_LATE_MESSAGES))

    @staticmethod
    def _wrap(owner: Any, name: str, around: Callable[..., Any]) -> None:
        plain = getattr(owner, name)

        @functools.wraps(plain)
        def wrapped(*arguments: Any, **options: Any) -> Any:
            return around(plain, *arguments, **options)

        setattr(owner, name, wrapped)

    def seconds(self, most: float) -> float:
        """Some seconds, seldom as many as `most`."""
        return self._random.random() ** 2 * most

    def _submitted(
        self,
        plain: Callable[..., Any],
        pool: ThreadPoolExecutor,
        work: Callable[..., Any],
        *arguments: Any,
        **options: Any,
    ) -> Any:
        def slowly() -> Any:
            sleep(self.seconds(_THREAD))
            try:
                return work(*arguments, **options)
            finally:
                sleep(self.seconds(_THREAD))

        return plain(pool, slowly)

    def _run(self, plain: Callable[..., Any], thread: threading.Thread) -> None:
        sleep(self.seconds(_THREAD))
        plain(thread)

    async def _late(
        self, plain: Callable[..., Awaitable[Any]], *arguments: Any, most: float, share: float, **options: Any
    ) -> Any:
        if self._random.random() < share:
            await asyncio.sleep(self.seconds(most))
        return await plain(*arguments, **options)


def install_in_child(environment: Mapping[str, str]) -> None:
    """Be slow in a forked command line too, when the tests that started it are."""
    if seed := environment.get(SEED):
        delays = Delays(f"{seed}:{os.getpid()}")
        delays.install()
        sleep(delays.seconds(_START))


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--delays SEED`."""
    parser.addoption("--delays", metavar="SEED", help="be a slow machine, with delays drawn from this seed")


def pytest_configure(config: pytest.Config) -> None:
    """Put the delays in place before any test runs."""
    if seed := config.getoption("--delays"):
        os.environ[SEED] = seed
        delays = Delays(seed)
        delays.install()
        config.pluginmanager.register(_PerTest(delays))


class _PerTest:
    """Draws each test's delays from its own name, so that one test alone meets the same ones."""

    def __init__(self, delays: Delays) -> None:
        self._delays = delays

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self._delays.begin(item.nodeid)
