"""What tests share: galleries to build, sites to look at, browsers, hostile texts."""
