"""The demo: a simulated team that really acts on a real queue, and a fixed team for pictures and tests."""
