"""The console script `hydra-eval`. What a verb needs is imported when it is used: `--help` answers at once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Evaluate language models.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Settings of a verb that takes overrides of the run's config."""


@app.callback()
def _root() -> None:
    """Evaluate language models."""


@app.command(
    context_settings={**PASSED_ON, "help_option_names": []},
    help="Run an evaluation on this process: hydra-eval run task=gsm8k model=llama3 (run --help lists the options).",
)
def run(context: typer.Context) -> None:
    """The same as `python -m hydra_eval`; for several processes use `accelerate launch -m hydra_eval`."""
    from hydra_eval.app import main as run_main

    sys.argv = ["hydra-eval run", *context.args]
    run_main()


@app.command(name="list", context_settings=PASSED_ON)
def list_names(
    context: typer.Context,
    kind: Annotated[list[str] | None, typer.Option(help="task, class, table, group, tag or broken.")] = None,
    tag: Annotated[str | None, typer.Option(help="Only tasks with this tag.")] = None,
    lang: Annotated[str | None, typer.Option(help="Only names and tags with this language: de, deu, german.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Only what files below this folder define.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on standard output.")] = False,
) -> None:
    """List what task= knows, with its file: hydra-eval list 'mmlu_*' --kind task --lang de. Imports no task code."""
    from hydra_eval.commands import list as listing
    from hydra_eval.console import plain_console

    patterns = tuple(argument for argument in context.args if "=" not in argument)
    wanted = listing.Wanted(patterns=patterns, kinds=tuple(kind or ()), tag=tag, language=lang, folder=folder)
    found = listing.listing(listing.present_index(), wanted)
    if as_json:
        typer.echo(listing.as_json(found))
    else:
        plain_console().print(listing.as_table(found))
    typer.echo(listing.counts(found), err=True)


@app.command(context_settings={"allow_extra_args": True})
def show(
    context: typer.Context,
    doc: Annotated[int, typer.Option(help="Number of the document.")] = 0,
    answer: Annotated[
        str | None,
        typer.Option(help="A reply, or the number of a choice: shows what every filter and metric makes of it."),
    ] = None,
) -> None:
    """Show one document as the model would see it: hydra-eval show task=gsm8k fewshot.n=2 --answer "#### 5"."""
    from hydra_eval.commands.show import show as sections

    for title, text in sections(context.args, number=doc, answer=answer):
        typer.secho(title, bold=True)
        typer.echo(text + "\n")


@app.command(context_settings=PASSED_ON)
def validate(context: typer.Context) -> None:
    """Check that tasks would run, without a model: hydra-eval validate gsm8k mytasks/capitals.yaml limit=10."""
    from hydra_eval.commands import validate as checks
    from hydra_eval.commands import verdicts
    from hydra_eval.console import plain_console

    specs, overrides = checks.specs_and_overrides(context.args)
    found = list(checks.validate(specs, overrides))
    plain_console().print(verdicts.table(found))
    for message in verdicts.messages(found):
        typer.echo(message)
    raise typer.Exit(1 if any(verdict.errors for verdict in found) or not found else 0)


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Name of the new task.")],
    source: Annotated[str, typer.Option("--from", help="A data file, a folder of SPLIT files, or a hub data set.")],
    kind: Annotated[str, typer.Option(help="choice, generation or perplexity.")] = "generation",
    subset: Annotated[str | None, typer.Option(help="Subset of a hub data set.")] = None,
    folder: Annotated[Path, typer.Option(help="Where the task file goes.")] = Path("mytasks"),
    text: Annotated[str | None, typer.Option(help="Column of the question, or a template.")] = None,
    target: Annotated[str | None, typer.Option(help="Column of the answer, or a template.")] = None,
    choices: Annotated[str | None, typer.Option(help="Column of the choices, or a template.")] = None,
) -> None:
    """Write a task file for a data set: hydra-eval create capitals --from capitals.jsonl --kind generation."""
    from hydra_eval.commands.create import create as write
    from hydra_eval.commands.create import data_of
    from hydra_eval.commands.draft import Fields

    path, given = folder / f"{name}.yaml", Fields(text=text, target=target, choices=choices)
    write(path, kind=kind, data=data_of(source, subset, path.parent), given=given)
    typer.echo(path.read_text(encoding="utf-8"))
    typer.echo(f"Written to {path}. Look at it: hydra-eval show task={path}", err=True)


def main() -> None:
    """Entry point of the console script."""
    from hydra_eval.errors import UserError
    from hydra_eval.process import complain, print_anything, quiet_libraries

    quiet_libraries()
    print_anything()
    try:
        app()
    except UserError as error:
        complain(str(error))
        sys.exit(1)
    except OSError as error:
        if error.filename is not None:
            raise
        complain(f"what there is to show cannot be written: {error.strerror}.")
        sys.exit(1)
