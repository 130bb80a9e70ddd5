"""What several messages say together: answers, successions, stops, membership, reports."""
