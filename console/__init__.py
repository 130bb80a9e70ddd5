"""The console: the application, its screens and the command line."""

if __name__ != "team_console.console":  # from the top of the checkout: a second copy of each class
    raise ImportError("the package is imported as team_console.console, by the link in src/")
