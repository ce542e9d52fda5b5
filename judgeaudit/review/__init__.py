"""People and models on policies: rating reports, second opinions, drafts of policies as data."""
