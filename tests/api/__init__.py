"""The Python API, used as a program would use it."""
