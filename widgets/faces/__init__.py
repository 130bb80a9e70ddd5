"""How each kind of row looks: pure functions from a plain row to lines of parts."""
