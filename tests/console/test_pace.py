"""Under a stream of changes the console leaves most of the processor to others; a single change it shows at once."""

from __future__ import annotations

from team_console.console.tui.following import Pace


class Machine:
    """A clock and a processor, moved by hand."""

    def __init__(self) -> None:
        self.moment = 100.0
        self.used = 0.0

    def work(self, seconds: float) -> None:
        """Be busy for so long."""
        self.moment += seconds
        self.used += seconds


def paced() -> tuple[Machine, Pace]:
    """A machine and the pace of readings on it."""
    machine = Machine()
    return machine, Pace(lambda: machine.moment, lambda: machine.used)


def test_a_stream_of_changes_takes_a_third_of_the_processor() -> None:
    machine, pace = paced()
    for _ in range(50):
        machine.moment += pace.rest
        pace.begin()
        machine.work(0.02)
        pace.end()
    assert machine.used / (machine.moment - 100.0) < 0.34


def test_a_change_never_waits_longer_than_a_second() -> None:
    machine, pace = paced()
    pace.begin()
    machine.work(5.0)
    pace.end()
    assert pace.rest <= 1.0
