"""The commands of the handbook that change a machine, done to a folder instead."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from material.handbook import ROOT, blocks
from material.tools import tool


def test_what_changes_a_machine_is_done_below_another_root(tmp_path: Path) -> None:
    """The commands marked `root`, with every path below a scratch folder, and no user changed.

    Not run: the installation from a package index, and signals to a systemd that is not there.
    """
    ((_, block),) = blocks("sh root")
    (tmp_path / "deploy").symlink_to(ROOT / "deploy")
    (tmp_path / "survey.json").write_text("{}")
    root = tmp_path / "root"
    for folder in ("etc/systemd/system", "var/lib", "usr/lib"):
        (root / folder).mkdir(parents=True)
    (root / "etc/passwd").touch()
    (root / "etc/group").touch()
    changes = {
        "systemd-sysusers": f"{tool('systemd-sysusers')} --root={root}",
        "systemctl enable --now": f"systemctl --root={root} enable",
        "runuser -u deniable -- ": "",
        "/opt/deniable/bin/deniable": str(Path(sys.executable).parent / "deniable"),
        "-o deniable ": "",
        " /etc/": f" {root}/etc/",
        " /var/": f" {root}/var/",
    }
    left = []
    for line in block.splitlines():
        if line.startswith(("python3 -m venv", "systemctl reload")):
            left.append(line)
            continue
        for old, new in changes.items():
            line = line.replace(old, new)
        done = subprocess.run(
            ["bash", "-euc", line], cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"
    assert len(left) == 2
    assert "'deniable[cli,server]'" in left[0]
    assert "ExecReload=" in (ROOT / "deploy/systemd/deniable@.service").read_text()
    assert "deniable:" in (root / "etc/passwd").read_text()
    assert (root / "var/lib/deniable/keys.json").stat().st_mode & 0o777 == 0o600
    wanted = root / "etc/systemd/system"
    assert (wanted / "multi-user.target.wants/deniable@8000.service").is_symlink()
    assert (wanted / "timers.target.wants/deniable-backup.timer").is_symlink()
