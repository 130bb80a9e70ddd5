"""The version of team-console: the only place it is written, for the package, `--version` and the release."""

VERSION = "0.5.0"
