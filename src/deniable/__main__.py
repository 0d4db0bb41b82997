"""The `deniable` command, also as `python -m deniable`."""

from __future__ import annotations

import sys

EXTRAS = {
    "typer": "cli",
    "rich": "cli",
    "starlette": "server",
    "uvicorn": "server",
    "httptools": "server",
    "msgspec": "server",
    "jinja2": "server",
}
"""The extra that brings each package; every other one is for analysis."""


def main() -> None:
    """Run the command line, or say in one sentence which extra it needs."""
    try:
        from deniable.cli import run

        run()
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "deniable"):
            raise
        print(
            f"This command needs the '{EXTRAS.get(package, 'analysis')}' extra. "
            "Install everything with: pip install 'deniable[all]'",
            file=sys.stderr,
        )
        sys.exit(3)


if __name__ == "__main__":
    main()
