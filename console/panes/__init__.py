"""The modes, each a pane with its list and the thing under its cursor."""
