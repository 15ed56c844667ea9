"""What cells put out: cleaned, as a terminal shows it, and accepted or refused."""
