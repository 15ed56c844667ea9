"""What an update makes of catalogs: nothing that was translated is lost."""
