"""Parsing: the text of one entry into a record, quickly where it is plain, patiently everywhere else."""
