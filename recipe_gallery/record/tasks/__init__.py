"""Tasks: fresh processes of recipes, done in turn here or on many machines, and what is kept."""
