"""Messages, protocols, teams on disk or in SQL, every write action, every derived view. No screen.

For programs: `team_console.join_team`, and `team_console.store.api` for everything it gives.
"""

if __name__ != "team_console.store":  # from the top of the checkout: a second copy of each class
    raise ImportError("the package is imported as team_console.store, by the link in src/")
