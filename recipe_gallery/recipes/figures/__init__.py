"""Measured figures as data: what recipes publish, what fresh processes measured, and intervals."""
