"""What tests share: teams of each kind, command lines, terminals, strangers, damage."""
