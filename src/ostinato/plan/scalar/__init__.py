"""Conditions over the match as scalar code over the registers of a run."""
