"""As much of `datasets.Dataset` as hooks use, on rows of probes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any


def rows_of(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


class FakeDataset:
    """A data set that is never written to disk, so that its values stay what they are."""

    def __init__(self, rows: Iterable[Any]) -> None:
        self.rows = list(rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return [row[key] for row in self.rows]
        return FakeDataset(self.rows[key]) if isinstance(key, slice) else self.rows[key]

    @property
    def column_names(self) -> list[str]:
        return list(dict.fromkeys(key for row in self.rows for key in row))

    @property
    def features(self) -> dict[str, None]:
        return dict.fromkeys(self.column_names)

    num_rows = property(__len__)

    def map(self, function: Any, *, batched: bool = False, with_indices: bool = False, **options: Any) -> FakeDataset:
        kwargs = options.get("fn_kwargs") or {}
        if batched:
            return FakeDataset(rows_of(function({name: self[name] for name in self.column_names}, **kwargs)))
        made = []
        for number, row in enumerate(self.rows):
            new = row.copy()
            new.update(function(row, *([number] if with_indices else []), **kwargs) or {})
            made.append(new)
        return FakeDataset(made)

    def filter(self, function: Any, **options: Any) -> FakeDataset:
        kept = [row for row in self.rows if function(row, **(options.get("fn_kwargs") or {}))]
        return FakeDataset(kept or self.rows)

    def select(self, indices: Any, **options: Any) -> FakeDataset:
        return FakeDataset([self.rows[int(index) % len(self.rows)] for index in indices])

    def rename_column(self, old: str, new: str) -> FakeDataset:
        return self.map(lambda row: {new: row[old]})

    def rename_columns(self, names: Mapping[str, str]) -> FakeDataset:
        return self.map(lambda row: {new: row[old] for old, new in names.items()})

    def _itself(self, *args: Any, **kwargs: Any) -> FakeDataset:
        return self

    shuffle = sort = remove_columns = select_columns = flatten = cast_column = with_format = _itself

    def to_list(self) -> list[Any]:
        return self.rows
