"""The application: its reading of the team, its work in the background, its leaving."""
