"""Joining: which files of a client change so that its agent is a member of a team, and how they change back."""
