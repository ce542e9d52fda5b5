"""The world: the plan of calls, the ledger, limits, and the runner."""
