"""Goldens: what every mode looks like, as text at four sizes; `python -m tests.goldens` draws them anew."""
