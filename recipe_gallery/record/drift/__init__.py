"""Drift: where a new recording's figures lie beside the published intervals."""
