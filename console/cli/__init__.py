"""The command line: one verb per module, nothing imported before a verb needs it."""
