"""Mail: inboxes, deliveries, threads, and what was read and not answered."""
