"""Every state a crash can leave on disk, enumerated and judged."""
