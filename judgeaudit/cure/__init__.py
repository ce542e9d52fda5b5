"""From diagnosis to cure: the words that flip a judge, its hardening, how far wording steers it."""
