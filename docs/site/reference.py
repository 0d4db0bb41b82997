"""The generated pages of the reference: commands, names of Python, JSON Schemas, HTTP."""

from __future__ import annotations

import inspect
import json
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import typer
from docstrings import escaped, markdown

from deniable.cli.app import VERBS, make_app

PACKAGES = {
    "": "Deniable",
    "client": "The client",
    "authoring": "Surveys",
    "notebook": "In a notebook",
    "ask": "Asking a store",
    "results": "Tables and charts",
    "mechanisms": "Mechanisms",
    "decode": "Decoders",
    "associate": "Fields that go together",
    "groups": "Epochs, segments, versions",
    "marginals": "Profiles",
    "discover": "Strings nobody listed",
    "plan": "Plans",
    "privacy": "Privacy",
    "audit": "Audits",
    "crafted": "Crafted reports",
    "engines": "Counting",
    "store": "Stores",
    "collector": "The collector",
    "dashboard": "The dashboard",
    "interop": "Other systems",
    "protocol": "The protocol",
    "kernels": "Kernels",
    "crowd": "Crowds of true values",
    "testing": "For tests of your own",
}
SCHEMAS = {
    "survey": "A published survey: `survey.json`.",
    "report-batch": "A batch of reports, as it is sent.",
    "problem": "A refusal of the collector.",
    "table": "A table of results, as `--json` prints it.",
}


def reference_pages(root: Path) -> dict[str, str]:
    """Return every generated page by its name.

    Raises:
        KeyError: if there is a package that has no title here.
    """
    for path in (root / "src/deniable").glob("*/__init__.py"):
        if path.parent.name != "cli":
            PACKAGES[path.parent.name]
    pages = {"cli": cli_page(), "http": http_page(root), "schemas": schemas_page(root)}
    names = [f"api-{name or 'deniable'}" for name in PACKAGES]
    pages |= {name: api_page(package) for name, package in zip(names, PACKAGES, strict=True)}
    pages["python"] = _python_page(names)
    return pages


def _python_page(names: list[str]) -> str:
    listed = "\n".join(names)
    return (
        "# Python\n\nEvery public name, from its docstring. Names that are not here are internal, "
        f"and may change with any version.\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"
    )


def cli_page() -> str:
    """Return the page of the command line, from the commands themselves."""
    group: Any = typer.main.get_command(make_app())
    parts = ["# The command line\n\nEvery command, as `--help` tells it.\n"]
    for verb in VERBS:
        command = group.commands[verb]
        inner = getattr(command, "commands", None)
        parts.append(f"## `deniable {verb}`\n")
        if inner is None:
            parts.append(_command(f"deniable {verb}", command))
            continue
        parts.append(f"{escaped(_paragraphs(command.help or VERBS[verb]))}\n")
        for name, each in inner.items():
            full = f"deniable {verb} {name}"
            parts.append(f"### `{full}`\n\n{_command(full, each)}")
    return "\n".join(parts)


def _command(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=name)
    usage = " ".join(command.get_usage(context).removeprefix("Usage: ").split())
    rows = []
    for parameter in command.get_params(context):
        told = parameter.get_help_record(context) or (
            parameter.human_readable_name.upper(),
            getattr(parameter, "help", "") or "",
        )
        rows.append(f"- `{told[0]}`: {escaped(' '.join(told[1].split()))}")
    return f"{escaped(_paragraphs(command.help or ''))}\n\n```none\n{usage}\n```\n\n" + "\n".join(
        [*rows, ""]
    )


def _paragraphs(text: str) -> str:
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(text.replace("\b", "")))
    return "\n\n".join(" ".join(block.split()) for block in blocks)


def schemas_page(root: Path) -> str:
    """Return the page of the JSON Schemas.

    Raises:
        KeyError: if there is a schema that nobody described here.
    """
    parts = ["# JSON Schemas\n\nThe forms of everything that travels or is written as JSON.\n"]
    for path in sorted((root / "spec/schemas").glob("*.json")):
        text = json.dumps(json.loads(path.read_text("utf-8")), indent=2, ensure_ascii=False)
        parts.append(f"## {path.name}\n\n{SCHEMAS[path.stem]}\n\n```json\n{text}\n```\n")
    return "\n".join(parts)


def http_page(root: Path) -> str:
    """Return the page of the collector's interface, from its OpenAPI description."""
    told = json.loads((root / "spec/openapi.json").read_text("utf-8"))
    parts = [f"# HTTP\n\n{escaped(told['info']['description'])}\n"]
    for path, methods in told["paths"].items():
        shared = methods.get("parameters", [])
        for method, what in methods.items():
            if method != "parameters":
                parts.append(_operation(f"{method.upper()} {path}", what, shared))
    parts.append("## Forms\n")
    for name, schema in told["components"].get("schemas", {}).items():
        body = json.dumps(schema, indent=2, ensure_ascii=False)
        parts.append(f"### {name}\n\n```json\n{body}\n```\n")
    return "\n".join(parts)


def _operation(title: str, what: dict[str, Any], shared: list[dict[str, Any]]) -> str:
    lines = [f"## `{title}`\n", f"**{escaped(what['summary'])}** "]
    lines.append(f"{escaped(what.get('description', ''))}\n")
    for parameter in [*shared, *what.get("parameters", [])]:
        name = parameter.get("name", parameter.get("$ref", "").rsplit("/")[-1])
        told = escaped(parameter.get("description", ""))
        lines.append(f"- `{name}` ({parameter.get('in', 'see the forms')}): {told}")
    if body := what.get("requestBody"):
        kinds = ", ".join(f"`{kind}`" for kind in body.get("content", {}))
        lines.append(f"- body: {kinds}")
    for status, answer in what["responses"].items():
        reference = answer.get("$ref", "").rsplit("/")[-1]
        lines.append(f"- **{status}**: {escaped(answer.get('description', reference))}")
    return "\n".join([*lines, ""])


def api_page(package: str) -> str:
    """Return the page of a package: the docstring of it and of every public name."""
    name = f"deniable.{package}" if package else "deniable"
    module = import_module(name)
    parts = [f"# {PACKAGES[package]}: `{name}`\n\n{markdown(module.__doc__)}\n"]
    for public in sorted(module.__all__, key=str.lower):
        found = getattr(module, public, None)
        if found is None:
            found = import_module(f"{name}.{public}")
        parts.append(_name(public, found))
    return "\n".join(parts)


def _name(name: str, found: object) -> str:
    title = f"## `{name}`\n"
    if isinstance(found, ModuleType):
        inner = [
            f"- `{each}`: {escaped(_first_line(getattr(found, each)))}"
            for each in _own_names(found)
        ]
        return "\n".join([title, f"{markdown(found.__doc__)}\n", *inner, ""])
    if inspect.isclass(found):
        return "\n".join([title, _signature("class ", name, found), _doc(found), *_members(found)])
    if callable(found):
        return "\n".join([title, _signature("", name, found), _doc(found)])
    if " at 0x" in repr(found) or len(repr(found)) > 200:  # no two processes share an address
        return f"{title}\nA value of the type `{type(found).__name__}`.\n"
    return f"{title}\n```python\n{name} = {found!r}\n```\n"


def _members(kind: type) -> list[str]:
    parts = []
    for name in dir(kind):
        raw = inspect.getattr_static(kind, name)
        if name.startswith("_") or not _is_ours(kind, name):
            continue
        if isinstance(raw, property):
            parts.append(f"### `{name}`\n\n{markdown(raw.__doc__)}\n")
        elif callable(getattr(kind, name)) and not inspect.isclass(getattr(kind, name)):
            method = getattr(kind, name)
            parts.append(f"### `{name}()`\n\n{_signature('', name, method)}\n{_doc(method)}")
    return parts


def _is_ours(kind: type, name: str) -> bool:
    owner = next((base for base in kind.__mro__ if name in base.__dict__), kind)
    return owner.__module__.startswith("deniable")


def _own_names(module: ModuleType) -> list[str]:
    names = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]
    return sorted(names)


def _first_line(found: object) -> str:
    return (inspect.getdoc(found) or "").split("\n")[0]


def _doc(found: object) -> str:
    return f"{markdown(inspect.getdoc(found))}\n"


def _signature(before: str, name: str, found: Any) -> str:
    try:
        told = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(found)))
    except (TypeError, ValueError):
        told = "(...)"
    line = f"{before}{name}{re.sub(r' at 0x[0-9a-f]+', '', told)}"
    if len(line) > 90:
        line = re.sub(r", (?=[\w*/]+[:=,)*]|\*)", ",\n    ", line).replace("(", "(\n    ", 1)
    return f"```python\n{line}\n```\n"
