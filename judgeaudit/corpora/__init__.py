"""Datasets become items: one file a dataset."""
