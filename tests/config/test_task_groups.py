from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hydra_eval.config.task_config import task_config
from hydra_eval.config.task_index import task_index
from hydra_eval.config.task_options import options_for
from hydra_eval.errors import UserError

from ..toys import write_yaml

BASE: Mapping[str, Any] = {"dataset_path": "x", "test_split": "test", "num_fewshot": 1, "description": "file"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Four tasks, two of them with a tag, and a group `inner` of two."""
    for name, tag in (("a", None), ("b", ["pair"]), ("c", "pair"), ("d", None)):
        write_yaml(tmp_path / f"{name}.yaml", {"task": name, "tag": tag, **BASE})
    write_yaml(tmp_path / "inner.yaml", {"group": "inner", "group_alias": "In", "task": ["c", "d"]})
    return tmp_path


def expanded(folder: Path, *members: Any, **more: Any) -> dict[str, Any]:
    """What a group `g` of these members adds to the config; every task of it is sound."""
    write_yaml(folder / "g.yaml", {"group": "g", "task": list(members), **more})
    task_index.cache_clear()
    options = options_for("g", task_index((folder,)))
    for content in options["tasks"].values():
        task_config(content)
    return options


def leaves(options: Mapping[str, Any]) -> dict[str, str]:
    (selection,) = options["selection"].values()
    return dict(selection["tasks"])


def test_members_are_tasks_tags_and_groups(tree: Path) -> None:
    options = expanded(tree, "a", "pair", "inner")
    assert leaves(options) == {"a": "a", "b": "b", "c": "c", "d": "d"}
    assert options["groups"] == {
        "inner": {
            "alias": "In",
            "members": ["c", "d"],
            "tasks": ["c", "d"],
            "aliases": {},
            "aggregate_metric_list": None,
            "metadata": None,
        },
        "g": {
            "alias": None,
            "members": ["a", "b", "c", "inner"],
            "tasks": ["a", "b", "c", "d"],
            "aliases": {},
            "aggregate_metric_list": None,
            "metadata": None,
        },
    }


def test_a_glob_among_the_members_is_expanded_in_place(tree: Path) -> None:
    assert expanded(tree, "[ab]", "d")["groups"]["g"]["members"] == ["a", "b", "d"]


def test_an_alias_changes_nothing_but_what_is_shown(tree: Path) -> None:
    options = expanded(tree, {"task": "a", "task_alias": "First"}, {"task": "pair", "task_alias": "Pair"}, tag="more")
    assert list(options["tasks"]) == ["a", "b", "c"]
    assert [content["task_alias"] for content in options["tasks"].values()] == [None, None, None]
    assert options["groups"]["g"]["aliases"] == {"a": "First", "b": "Pair", "c": "Pair"}


@pytest.mark.parametrize(
    ("member", "key"),
    [
        ({"task": "a", "num_fewshot": 5}, "g__a"),
        ({"task": "a", "num_fewshot": 5, "task_alias": "A"}, "g__a"),
        ({"task": "a", "num_fewshot": 1, "description": "file"}, "a"),
    ],
    ids=["changed", "changed and renamed", "nothing changed"],
)
def test_a_changed_member_has_a_key_of_its_own_and_keeps_its_name(tree: Path, member: Any, key: str) -> None:
    options = expanded(tree, member)
    assert leaves(options) == {key: "a"}
    assert options["tasks"][key]["task"] == "a"
    assert options["tasks"][key]["num_fewshot"] == member["num_fewshot"]
    assert options["groups"]["g"]["members"] == [key]


def test_strength_member_then_parent_then_own_extra_keys_then_file(tree: Path) -> None:
    low = {"num_fewshot": 2, "description": "extra", "target_delimiter": "extra", "repeats": 2}
    write_yaml(tree / "low.yaml", {"group": "low", "task": ["a", {"task": "b", "repeats": 9}], **low})
    options = expanded(tree, {"group": "low", "description": "member"}, description="g", num_fewshot=3)
    found = {
        name: [options["tasks"][key][field] for field in ("description", "num_fewshot", "target_delimiter", "repeats")]
        for key, name in leaves(options).items()
    }
    assert found == {"a": ["member", 3, "extra", 2], "b": ["member", 3, "extra", 9]}
    assert list(leaves(options)) == ["g__low__a", "g__low__b"]


def test_a_change_is_by_top_level_key(tree: Path) -> None:
    write_yaml(tree / "a.yaml", {"task": "a", **BASE, "generation_kwargs": {"until": ["x"], "do_sample": False}})
    options = expanded(tree, {"task": "a", "generation_kwargs": {"until": ["y"]}})
    assert options["tasks"]["g__a"]["generation_kwargs"] == {"until": ["y"]}


def test_a_group_that_changes_nothing_shares_the_keys_of_those_below(tree: Path) -> None:
    write_yaml(tree / "low.yaml", {"group": "low", "task": [{"task": "a", "num_fewshot": 5}]})
    assert leaves(expanded(tree, "low")) == {"low__a": "a"}


def test_one_task_listed_twice_with_other_keys_is_two_tasks(tree: Path) -> None:
    options = expanded(tree, {"task": "a", "num_fewshot": 2}, {"task": "a", "num_fewshot": 3}, "a", "a")
    assert leaves(options) == {"g__a": "a", "g__a_2": "a", "a": "a"}
    assert options["groups"]["g"]["tasks"] == ["g__a", "g__a_2", "a"]


def test_a_group_may_be_changed_where_it_is_a_member(tree: Path) -> None:
    mean = [{"metric": "acc"}]
    options = expanded(tree, {"group": "inner", "group_alias": "Mine", "aggregate_metric_list": mean})
    assert (options["groups"]["inner"]["alias"], options["groups"]["inner"]["aggregate_metric_list"]) == ("Mine", mean)
    assert list(options["tasks"]) == ["c", "d"]


@pytest.mark.parametrize("name", ["inner", "pair"])
def test_a_mapping_may_name_a_group_or_a_tag_under_task(tree: Path, name: str) -> None:
    options = expanded(tree, {"task": name, "num_fewshot": 4})
    assert {content["num_fewshot"] for content in options["tasks"].values()} == {4}
    assert sorted(content["task"] for content in options["tasks"].values()) == (
        ["c", "d"] if name == "inner" else ["b", "c"]
    )


def test_an_inline_group_is_called_after_its_parent(tree: Path) -> None:
    inline = {"group": "sub", "group_alias": "S", "task": ["a", {"group": "deep", "task": ["b"], "num_fewshot": 7}]}
    options = expanded(tree, inline, "c")
    assert {name: group["members"] for name, group in options["groups"].items()} == {
        "g::sub::deep": ["g__sub__deep__b"],
        "g::sub": ["a", "g::sub::deep"],
        "g": ["g::sub", "c"],
    }
    assert options["groups"]["g::sub"]["alias"] == "S"
    assert leaves(options) == {"a": "a", "g__sub__deep__b": "b", "c": "c"}


def test_an_inline_task_is_called_after_its_parent(tree: Path) -> None:
    member = {"task": "new", "task_alias": "N", "dataset_path": "y", "doc_to_text": "{{q}}"}
    options = expanded(tree, member, num_fewshot=2)
    assert leaves(options) == {"g__new": "g::new"}
    content = options["tasks"]["g__new"]
    assert (content["task"], content["dataset_path"], content["num_fewshot"]) == ("g::new", "y", 2)
    assert options["groups"]["g"]["aliases"] == {"g__new": "N"}


def test_an_inline_task_may_include_a_base_beside_the_groups_file(tree: Path) -> None:
    (tree / "_base").write_text("dataset_path: y\nprocess_docs: !function utils.f\nrepeats: 3\n", encoding="utf-8")
    content = expanded(tree, {"task": "new", "include": "_base", "repeats": 2})["tasks"]["g__new"]
    assert (content["dataset_path"], content["repeats"]) == ("y", 2)
    assert content["process_docs"] == f"!function {tree}/utils.f"


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ("aa", r"g.yaml: a member of the group 'g': unknown task 'aa'.* \(To define a task here, give it a dataset_p"),
        ({"task": "zz", "num_fewshot": 2}, r"g.yaml: a member of the group 'g': unknown task 'zz'"),
        ({"group": "zz"}, r"g.yaml: a member of the group 'g': unknown task 'zz'"),
        ("tag:zz", r"g.yaml: a member of the group 'g': unknown tag 'zz'"),
        ("z_*", r"a member of the group 'g': no task, group or tag matches 'z_\*'. Nearest: a, b, c"),
        ({"dataset_path": "x", "use_prompt": "p:*"}, r"must be a name, or a mapping that has one under 'task' or 'gr"),
        (3, r"g.yaml: a member of the group 'g' must be a name, or a mapping .*, but one is 3"),
        ({"group": "sub", "task": []}, r"g.yaml: the group 'g::sub' has no members; list their names under 'task'"),
        ({"group": "sub", "task": {"a": 1}}, r"a member of the group 'g::sub' must be a name, or .* one is {'a': 1}"),
        (
            {"group": "inner", "task": ["a"]},
            r"the member 'inner' lists tasks, but .*inner.yaml defines a group of that",
        ),
        ("g", r"g.yaml: the group 'g' contains itself: g -> g"),
        ({"group": "sub", "task": ["g"]}, r"contains itself: g -> g::sub -> g"),
        ({"task": "a", "num_fewshots": 2}, r"unknown key 'num_fewshots'. Did you mean 'num_fewshot'"),
        ({"task": "n", "dataset_path": "x", "include": "_no"}, r"g.yaml: include '_no' wants the file .*/_no, which"),
    ],
    ids=str,
)
def test_what_is_wrong_with_a_member(tree: Path, member: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        expanded(tree, member)


def test_an_unknown_name_is_a_mistake_also_where_the_group_hands_a_data_set_down(tree: Path) -> None:
    with pytest.raises(UserError, match="unknown task 'aa'"):
        expanded(tree, "aa", dataset_path="x")


def test_a_member_whose_file_is_broken_is_named_with_the_reason(tree: Path) -> None:
    (tree / "bad.yaml").write_text("task: bad\nx: [", encoding="utf-8")
    with pytest.raises(UserError, match=r"g.yaml: a member of the group 'g': .*bad.yaml: not valid YAML"):
        expanded(tree, "bad")


def test_two_names_with_one_key_are_refused(tree: Path) -> None:
    write_yaml(tree / "x.yaml", {"task": "g__a", **BASE})
    with pytest.raises(UserError, match=r"'g__a' and 'a' have the same key, tasks\.g__a"):
        expanded(tree, "g__a", {"task": "a", "num_fewshot": 9})
