"""Measured figures and claims on a page: in its prose, and in the tables that were recorded.

A page names them by key; it is read again when one is another by now.
"""
