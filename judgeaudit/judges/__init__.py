"""Judge backends: a prompt goes in, a reply comes out; parsing reads a verdict or an outcome."""
