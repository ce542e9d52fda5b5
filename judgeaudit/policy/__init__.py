"""Policies as data, their renderings, their certificates, and the prompts made of them."""
