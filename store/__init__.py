"""Messages, protocols, teams on disk or in SQL, every write action, every derived view. No screen."""
