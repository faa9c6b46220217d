"""The data sets of one run: each is read once, whatever the number of tasks, several at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

from hydra_eval.data.load import load
from hydra_eval.data.rows import SplitRows, split_rows
from hydra_eval.data.source import Loaded, Source
from hydra_eval.errors import UserError, known_names

Wanted: TypeAlias = Mapping[str, Source]
"""Task → where its rows are."""
Advance: TypeAlias = Callable[[], None]


class Shelf:
    """What has been read: data sets by their key, and split rows by who asked for them."""

    def __init__(self, loaded: Mapping[str, Loaded]) -> None:
        self.loaded = loaded
        self._rows: dict[tuple[Any, ...], SplitRows] = {}

    def rows(self, source: Source, split: str, process: Any, *, purpose: str) -> SplitRows:
        """The split after the hook, which runs once for all who want the same split for the same purpose."""
        asked = (source.key, split, process, purpose)
        if asked not in self._rows:
            self._rows[asked] = split_rows(self.loaded[source.key], split, process, where=source.where)
        return self._rows[asked]


def load_all(wanted: Wanted, *, workers: int, retries: int, advance: Advance = lambda: None) -> Shelf:
    """Read every data set of a run; the outcome does not depend on the number of workers.

    Raises one UserError that names each data set which cannot be had, and the tasks that want it.
    """
    sources = {source.key: source for source in wanted.values()}

    def attempt(source: Source) -> Loaded | UserError:
        try:
            return load(source, retries=retries)
        except UserError as error:
            return error
        finally:
            advance()

    outcomes = dict(zip(sources, _in_order(attempt, list(sources.values()), workers), strict=True))
    failed = {key: outcome for key, outcome in outcomes.items() if isinstance(outcome, UserError)}
    if failed:
        raise UserError("\n".join(_told(error, _tasks_of(key, wanted)) for key, error in failed.items()))
    return Shelf({key: outcome for key, outcome in outcomes.items() if isinstance(outcome, Loaded)})


def _in_order(
    attempt: Callable[[Source], Loaded | UserError], sources: list[Source], workers: int
) -> list[Loaded | UserError]:
    """Threads: what is waited for is a disk or a server, and a process of its own would first import for seconds.

    A task's own function runs alone, after the others.
    """
    from datasets.utils import tqdm

    tqdm.get_lock()  # else `datasets` makes one in each thread, and takes it away while the others hold it
    found: dict[str, Loaded | UserError] = {}
    shared = [source for source in sources if source.make is None]
    with ThreadPoolExecutor(min(workers, max(1, len(shared)))) as pool:
        found |= zip((source.key for source in shared), pool.map(attempt, shared), strict=True)
    found |= {source.key: attempt(source) for source in sources if source.make is not None}
    return [found[source.key] for source in sources]


def _tasks_of(key: str, wanted: Wanted) -> list[str]:
    return [task for task, source in wanted.items() if source.key == key]


def _told(error: UserError, tasks: Iterable[str]) -> str:
    names = list(tasks)
    return f"{error} ({'task' if len(names) == 1 else 'tasks'} {known_names(names, shown=5)})"
