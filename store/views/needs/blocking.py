"""What cannot go on until a request is answered: its asker, who waits for the asker, and the stories behind them."""

from __future__ import annotations

from collections.abc import Iterable

from team_console.store.protocol.kinds.kind import RequestKind
from team_console.store.views.rows import RequestRow
from team_console.store.views.sprint import Sprint


class Blocking:
    """Looks along open requests, task assignments and the dependencies of the batch plan."""

    def __init__(self, open_rows: Iterable[RequestRow], sprint: Sprint) -> None:
        self._sprint = sprint
        self._waiting_for: dict[str, list[str]] = {}
        for row in open_rows:
            if row.kind is not RequestKind.SHUTDOWN:
                self._waiting_for.setdefault(row.addressee, []).append(row.asker)

    def by(self, row: RequestRow) -> tuple[str, ...]:
        """Agents and stories blocked by an open request, the nearest first; a stop blocks nobody."""
        if row.kind is RequestKind.SHUTDOWN:
            return ()
        found = dict.fromkeys((row.asker,))
        if row.kind is not RequestKind.DESTROY:
            found.update(dict.fromkeys(self._behind(row.asker)))
        found.pop(row.addressee, None)
        return tuple(found)

    def _behind(self, agent: str) -> Iterable[str]:
        sprint = self._sprint
        yield from (name for name in self._waiting_for.get(agent, ()) if name != agent)
        story = sprint.work.get(agent)
        stories = (story,) if story else sprint.unfinished.get(agent, ())
        yield from stories
        for item in stories:
            yield from sprint.waiting_for(item)
