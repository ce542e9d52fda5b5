"""OpenAI-style batches: files of requests that are answered within a day at a lower price.

The calls, the judge, the ledger and the card are those of single requests; only the way differs.
See `docs/decisions/0407-batches.md`.
"""
