"""The npm package: what is in it, that node can import it, and that its types are right."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from material.node import JS, program

TYPES = JS / "tests" / "types"
COMPILER = TYPES / "node_modules" / "typescript" / "bin" / "tsc"
STRICT = ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"]
STRICT += ["--target", "es2022", "--lib", "es2022,dom", "--module", "nodenext"]

OPEN = """
const { Client } = await import("deniable");
const client = await Client.open({ survey: process.argv[1], storage: "best-effort" });
const told = [client.state, await client.optIn(), await client.record("q", true)];
await client.close();
console.log(JSON.stringify(told));
"""


def run(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    # npm writes its log and cache below a home of its own here.
    variables = {**os.environ, "npm_config_cache": str(folder / "cache")}
    return subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pack the client as npm does, unpack it where a project has it, and return the project."""
    folder = tmp_path_factory.mktemp("project")
    done = run(folder, program("npm"), "pack", "--json", "--ignore-scripts", JS)
    assert done.returncode == 0, done.stderr
    with tarfile.open(folder / json.loads(done.stdout)[0]["filename"]) as packed:
        packed.extractall(folder / "node_modules", filter="data")
    (folder / "node_modules" / "package").rename(folder / "node_modules" / "deniable")
    (folder / "package.json").write_text('{"type": "module"}')
    shutil.copy(TYPES / "sample.ts", folder)
    return folder


def test_the_package_has_the_client_its_types_and_its_licence_alone(package: Path) -> None:
    root = package / "node_modules" / "deniable"
    found = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    modules = {path.relative_to(JS).as_posix() for path in (JS / "src").rglob("*.js")}
    beside = {"package.json", "README.md", "LICENSE", "deniable.js", "deniable.d.ts"}
    assert found == modules | beside | {"deniable.bundle.js"}
    about = json.loads((root / "package.json").read_bytes())
    assert not {"scripts", "dependencies", "peerDependencies", "optionalDependencies"} & set(about)
    assert about["license"] == "Apache-2.0"
    assert (root / "LICENSE").read_bytes() == (JS.parent / "LICENSE").read_bytes()


def test_node_imports_it_and_collects_nothing(package: Path) -> None:
    """Node has no storage that lasts: the client says so, and never throws."""
    survey = json.loads((JS.parent / "spec/vectors/v1/surveys.json").read_bytes())[0]["text"]
    done = run(package, program("node"), "--input-type=module", "-e", OPEN, survey)
    assert done.stdout.strip() == '["storage",false,false]', done.stderr


def checked(package: Path) -> subprocess.CompletedProcess[str]:
    hint = "Run ./scripts/test, or: npm ci --ignore-scripts --prefix js/tests/types"
    assert COMPILER.is_file(), f"The TypeScript compiler is not installed. {hint}"
    return run(package, program("node"), COMPILER, *STRICT, "sample.ts")


def test_the_types_fit_a_page_that_uses_everything(package: Path) -> None:
    done = checked(package)
    assert done.returncode == 0, done.stdout
    wanted = json.loads((TYPES / "package-lock.json").read_bytes())["packages"]
    about = json.loads((COMPILER.parents[1] / "package.json").read_bytes())
    assert about["version"] == wanted["node_modules/typescript"]["version"]


@pytest.mark.parametrize(
    ("line", "wrong", "code"),
    [
        ("optOut(): Promise<boolean>;", "optOut(now: true): Promise<boolean>;", "TS2554"),
        ("  | typeof ABSENT\n", "", "TS2322"),
        ('storage?: "persistent" | "best-effort";', "storage?: string;", "TS2578"),
    ],
)
def test_wrong_types_are_noticed(
    package: Path, tmp_path: Path, line: str, wrong: str, code: str
) -> None:
    shutil.copytree(package, tmp_path / "project")
    types = tmp_path / "project" / "node_modules" / "deniable" / "deniable.d.ts"
    text = types.read_text()
    assert line in text
    types.write_text(text.replace(line, wrong))
    assert code in checked(tmp_path / "project").stdout


def test_the_types_name_what_the_client_has() -> None:
    """Every public name of the class stands in the types, and the other way round."""
    script = """
      import { Client } from "./deniable.js";
      const names = (it) => Object.getOwnPropertyNames(it);
      const own = [...names(Client.prototype), "open"].filter((name) => name !== "constructor");
      console.log(JSON.stringify(own.sort()));"""
    done = run(JS, program("node"), "--input-type=module", "-e", script)
    text = (JS / "deniable.d.ts").read_text().partition("export class Client {")[2]
    told = [line.strip() for line in text.partition("\n}")[0].splitlines()]
    members = [line for line in told if line[:1].isalpha() and not line.startswith("private")]
    names = [m.removeprefix("static ").removeprefix("readonly ") for m in members]
    assert sorted(name.partition("(")[0].partition(":")[0] for name in names) == json.loads(
        done.stdout
    )
