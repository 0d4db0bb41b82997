"""deniable audit: proofs, sampled encoders, the wire, the store, attackers.

The exit code is 1 if a finding does not hold. Each audit imports its own modules when it is run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.output import JsonFlag, checked_place, emit_json, out, progress
from deniable.cli.values import any_survey

if TYPE_CHECKING:
    from deniable.audit import Audit, Finding
    from deniable.audit.sample.size import Plan

audit = typer.Typer(
    help="Prove, sample, capture, search and attack: nobody's word is needed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

AnySurvey = Annotated[
    Path, typer.Argument(help="survey.toml, or a published survey.json.", metavar="SURVEY")
]


@audit.command()
def exact(survey: AnySurvey, json: JsonFlag = False) -> None:
    """Prove every epsilon of a survey.

    Enumerates the shipped encoders from their integer thresholds, with exact fractions.
    """
    from deniable.audit.exact.proofs import audit_exact

    _report(audit_exact(any_survey(survey)), json)


@audit.command()
def sample(
    survey: AnySurvey,
    trials: Annotated[
        int | None,
        typer.Option(
            min=200,
            max=10**8,
            help="Reports per answer, each of another device; as many as an error of 5% needs.",
        ),
    ] = None,
    limit: Annotated[
        float, typer.Option(min=1, help="Seconds that a question may take, about.")
    ] = 300.0,
    processes: Annotated[
        int | None, typer.Option(min=1, max=256, help="As many as there are processors.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Sample the shipped encoder as a black box.

    Gives a lower bound on epsilon from two answers, and tests every probability against the exact
    channel.
    """
    from deniable.audit.sample.black_box import audit_sample

    with progress(quiet=json) as display:
        task = display.add_task("Planning", total=None)

        def announce(plans: Sequence[Plan]) -> None:
            for plan in plans:
                display.console.print(plan.words, style="dim", markup=False)
            total = round(sum(plan.seconds for plan in plans))
            display.console.print(f"Together about {total:,} s.", style="dim", markup=False)

        def show(question: str, done: int, wanted: int) -> None:
            display.update(task, description=question, completed=done, total=wanted)

        found = audit_sample(
            any_survey(survey),
            trials=trials,
            limit=limit,
            processes=processes or os.cpu_count() or 1,
            progress=show,
            announce=None if json else announce,
        )
    _report(found, json)


@audit.command()
def wire(survey: AnySurvey, json: JsonFlag = False) -> None:
    """Check what real clients send.

    Runs clients and a collector on this machine, and records all that passes between them.
    """
    from deniable.audit.wire.bytes_sent import audit_wire

    _report(audit_wire(any_survey(survey)), json)


@audit.command()
def store(
    data: Annotated[
        str | None,
        typer.Option(
            callback=lambda place: None if place is None else checked_place(place),
            help="A collector's data directory, or database; read only.",
            metavar="DIR",
        ),
    ] = None,
    survey: Annotated[
        Path | None,
        typer.Option(help="With --data: advice whether reports look crafted.", metavar="SURVEY"),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Search a store for senders and order.

    Nothing about senders may stand in its files, and the order of arrival must be forgotten.
    """
    from deniable.audit.store.kept_data import audit_store

    _report(audit_store(data, survey=None if survey is None else any_survey(survey)), json)


@audit.command()
def attack(
    survey: AnySurvey,
    devices: Annotated[
        int, typer.Option(min=500, max=10**6, help="Simulated per point of a curve.")
    ] = 4_000,
    seed: Annotated[int, typer.Option(min=0, help="Of everything random.")] = 0,
    directory: Annotated[
        Path | None, typer.Option("--out", help="Also write charts here.", metavar="DIR")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Attack a survey's questions, and a client.

    Every question of the survey, and a client by a malicious server.

    The attacks: averaging, posteriors, linking, changes of a value, crafted reports; a server that
    asks for more than the app's survey does, or marks devices.
    """
    from deniable.audit.attack.attackers import audit_attack
    from deniable.audit.attack.servers_asking_more import NOTES, server_findings

    attacks = audit_attack(any_survey(survey), devices=devices, seed=seed)
    attacks = attacks.beside(server_findings(), NOTES)
    files: list[str] = []
    if directory is not None:
        from deniable.audit.attack.charts import save_charts

        files = [str(path) for one in attacks.fields for path in save_charts(one, directory)]
    if json:
        emit_json({**attacks.as_json(), "files": files})
    else:
        _show(attacks.audit)
        if files:
            out.print(f"Written: {', '.join(files)}", markup=False)
    _stop_unless(attacks.audit)


def _report(found: Audit, json: bool) -> None:
    if json:
        emit_json(found.as_json())
    else:
        _show(found)
    _stop_unless(found)


def _show(found: Audit) -> None:
    about = ""
    for finding in found.findings:
        if finding.about != about:
            about = finding.about
            out.print(about, style="bold", markup=False)
        _line(finding)
    for note in found.notes:
        out.print(f"- {note}", markup=False, style="dim")
    failed = len(found.failures)
    total = len(found.findings)
    out.print(f"{total - failed} of {total} findings hold." if failed else f"All {total} hold.")


def _line(finding: Finding) -> None:
    word, style = ("holds", "green") if finding.holds else ("FAILS", "red")
    out.print(f"  {word}", style=style, end=" ")
    out.print(f"{finding.check}: {finding.words}", markup=False)


def _stop_unless(found: Audit) -> None:
    if not found.holds:
        raise typer.Exit(1)
