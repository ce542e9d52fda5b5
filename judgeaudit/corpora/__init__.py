"""Datasets of labelled agent trajectories, read into items. One file a dataset."""

from judgeaudit.corpora.base import (
    ASSUMPTIONS,
    CORPORA,
    Corpus,
    CorpusReader,
    CorpusRequest,
    Draft,
    load,
)

__all__ = ["ASSUMPTIONS", "CORPORA", "Corpus", "CorpusReader", "CorpusRequest", "Draft", "load"]
