"""The `deniable` command, also as `python -m deniable`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or say in one sentence which extra it needs."""
    try:
        from deniable.cli import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        print(
            "The deniable command needs the 'cli' extra. "
            "Install it with: pip install 'deniable[all]'",
            file=sys.stderr,
        )
        sys.exit(3)
    run()


if __name__ == "__main__":
    main()
