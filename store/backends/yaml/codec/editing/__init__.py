"""Editing: new bytes for what changes, the old bytes for everything else."""
