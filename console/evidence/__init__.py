"""What is looked at on this machine for a decision: files a plan names, and what agents' clients said they ran."""
