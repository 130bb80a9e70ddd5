"""The stylesheet of an application that chooses its theme before it starts: its styles are read once, not twice."""

from __future__ import annotations

from textual.css.stylesheet import Stylesheet


class PatientStylesheet(Stylesheet):
    """A stylesheet that is read when it is first asked for its rules."""

    def reparse(self) -> None:
        """Read the styles again, with other variables; nothing yet where they wait to be read for the first time.

        A theme set before the start asks for this, and with the start come styles for which all is read once more.
        """
        if not self._require_parse:
            super().reparse()
