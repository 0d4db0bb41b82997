"""A desktop app in Tk with telemetry that people accept: `./notes.py [folder]`.

It keeps short notes. Its first window says what the app would like to know, and asks; the menu
shows at any time what would leave, and takes the consent back.
"""

from __future__ import annotations

import os
import sys
import tkinter as tk
from pathlib import Path

from deniable import Client
from deniable.client import Consent

SURVEY = Path(__file__).with_name("survey.json")
COLLECTOR = os.environ.get("NOTES_COLLECTOR", "https://telemetry.example.org")
THEMES = {"light": ("#ffffff", "#202020"), "dark": ("#202020", "#eeeeee")}


class Notes:
    """The window, its notes and its client."""

    def __init__(self, root: tk.Tk, client: Client) -> None:
        self.root, self.client = root, client
        self.theme = tk.StringVar(root, "light")
        self.list = tk.Listbox(root, width=50)
        self.entry = tk.Entry(root)
        self.entry.bind("<Return>", lambda _: self.add())
        self.list.pack(fill="both", expand=True)
        self.entry.pack(fill="x")
        self.asking: tk.Frame | None = None
        root.title("Notes")
        root.config(menu=self._menu())
        root.protocol("WM_DELETE_WINDOW", self.close)
        if client.consent is Consent.UNKNOWN:
            self.ask()

    def add(self) -> None:
        """Keep the note that was typed."""
        if text := self.entry.get().strip():
            self.list.insert("end", text)
            self.entry.delete(0, "end")
            self.client.record("notes", self.list.size())

    def choose(self) -> None:
        """Put on the chosen theme."""
        ground, letters = THEMES[self.theme.get()]
        self.list.config(background=ground, foreground=letters)
        self.client.record("theme", self.theme.get())

    def ask(self) -> None:
        """Show the notice, inside of the window: a dialog that blocks is clicked away unread."""
        self.asking = tk.Frame(self.root, borderwidth=2, relief="groove")
        tk.Label(self.asking, text=self.client.notice(), justify="left").pack()
        for label, agreed in (("Agree", True), ("No", False)):
            button = tk.Button(self.asking, text=label, command=lambda a=agreed: self.answer(a))
            button.pack(side="left")
        self.asking.pack(fill="x")

    def answer(self, agreed: bool) -> None:
        """Store what the person said."""
        if agreed:
            self.client.opt_in()
        else:
            self.client.opt_out()
        if self.asking is not None:
            self.asking.destroy()
            self.asking = None

    def show(self) -> tk.Toplevel:
        """Show what would leave, and the reports that wait."""
        window = tk.Toplevel(self.root)
        window.title("What is sent")
        text = tk.Text(window, wrap="word", width=90)
        waiting = [str(report.as_json()) for report in self.client.pending()]
        text.insert("1.0", "\n\n".join([self.client.explain(), *waiting]))
        text.config(state="disabled")
        text.pack(fill="both", expand=True)
        return window

    def close(self) -> None:
        """End: what was recorded is on the disk, and what is due is sent."""
        self.root.destroy()
        self.client.close()

    def _menu(self) -> tk.Menu:
        menu = tk.Menu(self.root)
        view = tk.Menu(menu, tearoff=False)
        for theme in THEMES:
            view.add_radiobutton(label=theme, variable=self.theme, command=self.choose)
        menu.add_cascade(label="Theme", menu=view)
        privacy = tk.Menu(menu, tearoff=False)
        privacy.add_command(label="What is sent", command=self.show)
        privacy.add_command(label="Agree", command=lambda: self.answer(True))
        privacy.add_command(label="Withdraw", command=lambda: self.answer(False))
        menu.add_cascade(label="Privacy", menu=privacy)
        return menu


def main() -> None:
    """Open the window."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(base) / "notes"
    root = tk.Tk()
    Notes(root, Client(SURVEY, folder, COLLECTOR))
    root.mainloop()


if __name__ == "__main__":
    main()
