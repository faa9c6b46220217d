from __future__ import annotations

from hydra_eval.models.efficiency import Efficiency, added_up, efficiency_figures
from hydra_eval.models.prefixes import fold

FIRST = Efficiency(forward_tokens=30, model_seconds=2.0, row_steps=4, peak_memory_bytes=7, prefixes=[fold([(1, 2, 3)])])
SECOND = Efficiency(forward_tokens=10, model_seconds=3.0, peak_memory_bytes=9, prefixes=[fold([(1, 2), (4,)])])


def test_counters_of_all_processes_are_added() -> None:
    total = added_up([{"a": FIRST, "b": Efficiency()}, {"a": SECOND}])["a"]
    assert (total.forward_tokens, total.row_steps, total.peak_memory_bytes) == (40, 4, 9)


def test_a_beginning_that_two_processes_had_is_counted_once() -> None:
    assert (FIRST + SECOND).figures()["unique_prefix_tokens"] == 4


def test_figures_are_by_kind_and_in_total() -> None:
    figures = efficiency_figures({"a": FIRST, "b": SECOND, "c": Efficiency()})
    assert list(figures) == ["a", "b", "c", "total"]
    assert (figures["a"]["tokens_per_second"], figures["c"]["tokens_per_second"]) == (15.0, None)
    assert (figures["total"]["forward_tokens"], figures["total"]["tokens_per_second"]) == (40, 8.0)
