"""The site of cards: pages over many Judge Cards that work from a folder, without a network.

>>> from judgeaudit.cards import site
>>> site.build(Path("judge_cards/published"), Path("site"))  # doctest: +SKIP
"""

from judgeaudit.cards.site.building import Built, build
from judgeaudit.cards.site.reading import Group, Sited, differences, groups, read_folder

__all__ = ["Built", "Group", "Sited", "build", "differences", "groups", "read_folder"]
