"""Cutting: a queue's text into its entries, by columns where possible, else by a parse of the whole file."""
