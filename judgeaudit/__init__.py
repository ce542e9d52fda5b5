"""Crash-test rig for LLM safety judges."""
