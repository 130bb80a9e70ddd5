"""A team in a folder: one YAML queue under a kernel lock, archives, an audit trail, a drop folder."""
