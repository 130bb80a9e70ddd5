"""The requests: every question with its answers, grouped, judged, and kept up to date message by message."""
