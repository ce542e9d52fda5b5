"""A judge behind doors that others already know: an OpenAI-compatible endpoint on loopback."""
