"""The router: due messages are pushed, tried again, given up and rescued."""
