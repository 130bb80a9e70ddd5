"""Agents and members: created, ended, told to each other."""
