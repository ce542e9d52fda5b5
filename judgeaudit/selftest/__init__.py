"""The instrument, tested before it is trusted."""
