"""Reusable Textual widgets: models in, messages out."""

if __name__ != "team_console.widgets":  # from the top of the checkout: a second copy of each class
    raise ImportError("the package is imported as team_console.widgets, by the link in src/")
