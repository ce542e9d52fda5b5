"""One typed registry: fills itself from its own room and from entry points."""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from judgeaudit.core.errors import ConfigError, unknown_name

__all__ = ["Registry"]

T = TypeVar("T")


class Registry(Generic[T]):
    """Names to things of one kind; an addition is one file in the room, or an entry point.

    Parameters
    ----------
    kind : str
        The word for one entry in messages ("corpus", "judge", "metric").
    package : str, optional
        The package whose public modules register themselves when imported; None where entries are
        registered by hand.
    group : str
        The entry-point group in which other distributions offer entries.
    """

    def __init__(self, kind: str, package: str | None, group: str) -> None:
        self.kind = kind
        self._package = package
        self._group = group
        self._entries: dict[str, T] = {}
        self._origins: dict[str, str] = {}
        self._filled = self._filling = False
        self._lock = threading.RLock()

    def register(self, name: str) -> Callable[[T], T]:
        """Decorate a thing so that it can be found by `name`."""

        def add(thing: T) -> T:
            self._add(name, thing, getattr(thing, "__module__", type(thing).__module__))
            return thing

        return add

    def _add(self, name: str, thing: T, origin: str) -> None:
        if name in self._entries:
            raise ConfigError(
                f"two {self.kind} entries are called {name!r}: {self._origins[name]} and {origin}",
                mend="Rename one of them",
            )
        self._entries[name] = thing
        self._origins[name] = origin

    def _fill(self) -> None:
        if self._filled:
            return
        # another thread waits until all are there; a module of the room may look while it is filled
        with self._lock:
            if self._filling:
                return
            self._filling = True
            try:
                self._find()
            finally:
                self._filled = True

    def _find(self) -> None:
        if self._package is not None:
            package = importlib.import_module(self._package)
            for module in pkgutil.iter_modules(package.__path__):
                if not module.name.startswith("_"):
                    importlib.import_module(f"{self._package}.{module.name}")
        for point in importlib.metadata.entry_points(group=self._group):
            self._add(point.name, self._loaded(point), point.value)

    def _loaded(self, point: importlib.metadata.EntryPoint) -> T:
        try:
            thing: T = point.load()
        except Exception as e:  # whatever somebody else's module raises when it is imported
            of = point.dist.name if point.dist is not None else "a distribution"
            raise ConfigError(
                f"the {self.kind} {point.name!r} of {of} cannot be loaded: "
                f"{type(e).__name__}: {e!s:.200}",
                where=point.value,
                mend=f"Mend or uninstall {of}",
            ) from e
        return thing

    def __getitem__(self, name: str) -> T:
        """Look a name up.

        Raises
        ------
        ConfigError
            If the name is not registered; the message lists the known ones.
        """
        self._fill()
        try:
            return self._entries[name]
        except KeyError:
            raise ConfigError(unknown_name(self.kind, name, self.names())) from None

    def __contains__(self, name: object) -> bool:
        """Say whether a name is registered."""
        self._fill()
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, sorted."""
        return iter(self.names())

    def names(self) -> list[str]:
        """Return the registered names, sorted."""
        self._fill()
        return sorted(self._entries)
