"""What runs of a recipe, cell by cell, and what is shown of it."""
