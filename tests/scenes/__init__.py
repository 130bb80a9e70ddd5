"""Scenes: one file for each promise, told once for all the faces and stores that have to keep it."""
