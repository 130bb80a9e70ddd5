"""The console: the application, its screens and the command line."""
