"""Stores that are measured, each as a program of its own that takes orders on standard input."""
