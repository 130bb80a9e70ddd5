"""The command line: a module for each group of verbs, imported when one of them is used."""
