"""The verbs: each module has `add_arguments(parser)` and `run(call)`, and is named in the registry."""
