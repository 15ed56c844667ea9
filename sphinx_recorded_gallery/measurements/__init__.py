"""Measured figures and claims on a page: in its prose, and in the tables that were recorded."""
