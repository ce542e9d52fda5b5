"""Scores and provenance become a Judge Card in several formats."""
