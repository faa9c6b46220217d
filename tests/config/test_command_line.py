from __future__ import annotations

from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from hydra_eval.config.command_line import parse_command_line
from hydra_eval.errors import UserError


@pytest.mark.parametrize(
    ("argv", "runs", "multirun"),
    [
        ([], True, False),
        (["task=a", "model=b"], True, False),
        (["-m", "seed=1,2"], True, True),
        (["seed=1,2", "--multirun"], True, True),
        (["--help"], False, False),
        (["task=a", "--cfg", "job"], False, False),
        (["--info", "plugins"], False, False),
        (["--hydra-help"], False, False),
        (["--shell-completion", "query=bash"], False, False),
    ],
)
def test_what_kind_of_call_it_is(argv: list[str], runs: bool, multirun: bool) -> None:
    command = parse_command_line(argv)
    assert (command.runs, command.multirun) == (runs, multirun)


def test_overrides_stand_between_flags_in_any_order() -> None:
    assert parse_command_line(["task=a", "-m", "+x=1", "~tracker"]).overrides == ("task=a", "+x=1", "~tracker")


@pytest.mark.parametrize(
    ("argv", "value"),
    [
        (["resume=never"], "never"),
        (["resume=auto", "resume=never"], "never"),
        (["resume='never'"], "never"),
        (["resumes=never"], None),
        ([], None),
    ],
)
def test_the_last_value_of_a_key_counts(argv: list[str], value: str | None) -> None:
    assert parse_command_line(argv).value("resume") == value


@pytest.mark.parametrize(
    ("argv", "folder"),
    [
        (["hydra.run.dir=out/x=1"], Path("out/x=1")),
        (["hydra.sweep.dir=out"], None),
        (["-m", "hydra.sweep.dir=out"], Path("out")),
        (["-m", "hydra.run.dir=out"], None),
    ],
)
def test_a_run_and_a_sweep_are_named_by_keys_of_their_own(argv: list[str], folder: Path | None) -> None:
    assert parse_command_line(argv).named_folder == folder


@pytest.mark.parametrize(
    "folder", ["out/a", "out/with space", "out/a=1,b", "out/it's", "out/back\\slash", "o\\'\\", "out/日本"]
)
@pytest.mark.parametrize("multirun", [False, True])
def test_hydra_reads_back_the_folder_that_was_picked(folder: str, multirun: bool) -> None:
    argv = ["task=a", "hydra.run.dir=old", "hydra.sweep.dir=old"] + (["-m"] if multirun else [])
    within = parse_command_line(argv).within(Path(folder), is_main=True)
    key = "hydra.sweep.dir" if multirun else "hydra.run.dir"
    last = [argument for argument in within if argument.startswith(f"{key}=")]
    assert [override.value() for override in OverridesParser.create().parse_overrides(last)] == [folder]


def test_a_folder_with_an_interpolation_is_refused() -> None:
    with pytest.raises(UserError, match=r"hydra.run.dir=out/\$\{now:%H\}: name a plain folder"):
        _ = parse_command_line(["hydra.run.dir='out/${now:%H}'"]).named_folder


def test_other_ranks_write_nothing_of_hydras() -> None:
    within = parse_command_line(["task=a"]).within(Path("out"), is_main=False)
    assert within[0] == "task=a"
    assert {"hydra.output_subdir=null", "hydra/job_logging=worker"} <= set(within)


@pytest.mark.parametrize(
    "override", ["task=null", "task=1", "task=[null]", "task=[[a]]", "task={a:1}", "model=true", "filters=[strip,3]"]
)
def test_a_choice_that_is_no_name_is_refused_before_hydra_sees_it(override: str) -> None:
    with pytest.raises(UserError, match="must be a name or a list of names"):
        parse_command_line([override]).check()


@pytest.mark.parametrize(
    "override", ["task='3'", "task=[a,b]", "model=a,b", "filters={x:[strip]}", "~task", "task=glob(*)", "seed=1"]
)
def test_choices_that_are_names_and_other_keys_pass(override: str) -> None:
    parse_command_line([override]).check()


@pytest.mark.parametrize("override", ["task=é", "task=[a", "data.root=a=b"])
def test_what_the_grammar_cannot_read_is_said_with_the_way_out(override: str) -> None:
    with pytest.raises(UserError, match=r"cannot be read .* into quotes"):
        parse_command_line([override]).check()


def test_a_folder_may_be_named_with_plus_signs_and_not_be_empty() -> None:
    assert parse_command_line(["++hydra.run.dir=x"]).named_folder == Path("x")
    with pytest.raises(UserError, match=r"hydra.run.dir= is empty"):
        _ = parse_command_line(["hydra.run.dir="]).named_folder


def test_a_word_alone_sets_nothing() -> None:
    with pytest.raises(UserError, match="'gsm8k' sets nothing: write KEY=VALUE; a task is chosen by task=gsm8k"):
        parse_command_line(["gsm8k"]).check()


def test_flags_go_before_overrides(tmp_path: Path) -> None:
    command = parse_command_line(["model=dummy", "-m", "task=a,b"])
    given = command.within(tmp_path, is_main=True)
    assert given[:3] == ["-m", "model=dummy", "task=a,b"]
    assert parse_command_line(given).multirun
