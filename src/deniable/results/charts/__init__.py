"""Pictures of tables: bars, heat maps and trees, in one look; and their files."""
