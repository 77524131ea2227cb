#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Presses Tab in a real shell and reads what the line became: try_completion.py bash|zsh|fish TRIREME

bash and zsh run at a terminal of their own: a line is typed, completed, and made the argument of a function that prints it. fish says by
itself what it would complete.
"""

import os
import pathlib
import pty
import select
import subprocess
import sys
import tempfile
import time

# What is typed, and what the line must have become. A space at the end: the word is complete.
LINES = {
    "trireme swi": "trireme switch ",
    "trireme train --max-no": "trireme train --max-nodes ",
    "trireme train job.toml --strategy local_": "trireme train job.toml --strategy local_sgd ",
    "trireme train job.toml --strategy=local_": "trireme train job.toml --strategy=local_sgd ",
    "trireme train --set train.epo": "trireme train --set train.epochs=",
    "trireme train --set train.optimizer=adad": "trireme train --set train.optimizer=adadelta ",
    "trireme list opt": "trireme list optimizers ",
    "trireme train my": "trireme train my_job.toml ",
    "trireme report runs/fi": "trireme report runs/first-run ",
    "trireme report fi": "trireme report fi",
    "trireme report my_job.toml --output=my_n": "trireme report my_job.toml --output=my_notes.txt ",
    "trireme train --runs fold": "trireme train --runs folder/",
    "trireme predict runs/first-run pic": "trireme predict runs/first-run picture.png ",
    "trireme nothing my": "trireme nothing my",
}
LIMIT = 60  # seconds; each wait is for a condition


def make_folder(folder: pathlib.Path) -> None:
    run = folder / "runs" / "first-run"
    run.mkdir(parents=True)
    for name in ("config.toml", "journal.jsonl"):
        (run / name).touch()
    (folder / "folder").mkdir()
    for name in ("my_job.toml", "my_notes.txt", "picture.png", "picture.txt"):
        (folder / name).touch()


class Terminal:
    """A shell at a terminal."""

    def __init__(self, command: list[str], environment: dict[str, str], folder: pathlib.Path) -> None:
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self.text = ""

    def send(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def wait_for(self, mark: str) -> str:
        """What came up to the mark."""
        end = time.monotonic() + LIMIT
        while mark not in self.text:
            ready, _, _ = select.select([self.terminal], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                sys.exit(f"error: {mark!r} did not come; the terminal shows {self.text!r}")
            self.text += os.read(self.terminal, 4096).decode(errors="replace")
        before, _, self.text = self.text.partition(mark)
        return before

    def close(self) -> None:
        self.send("\x15exit\r")
        os.close(self.terminal)
        os.waitpid(self.child, 0)


def with_terminal(shell: str, folder: pathlib.Path, environment: dict[str, str]) -> dict[str, str]:
    start = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}[shell]
    terminal = Terminal(start, environment, folder)
    if shell == "zsh":
        terminal.send("autoload -Uz compinit && compinit -u -d ./dump; unsetopt beep\r")
    terminal.send("show() { printf 'BEG%s[%s]E%s' IN \"$1\" ND; }\r")  # the marks are not in what the terminal echoes
    terminal.send(f"source <(trireme completion {shell}); printf '%sDY' REA\r")
    terminal.wait_for("READY")
    became = {}
    for line in LINES:
        # Tab; then to the line's end (Ctrl-E) and to its beginning (Ctrl-A), to make the line an argument.
        terminal.send(f"{line}\t\x05'\x01show '\r")
        terminal.wait_for("BEGIN[")
        became[line] = terminal.wait_for("]END")
    terminal.close()
    return became


def with_fish(folder: pathlib.Path, environment: dict[str, str]) -> dict[str, str]:
    became = {}
    for line in LINES:
        script = f"trireme completion fish | source; complete -C {line!r}"
        answer = subprocess.run(["fish", "--no-config", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT)
        if answer.returncode != 0 or answer.stderr:
            sys.exit(f"error: fish: {answer.stderr}")
        words = [row.split("\t")[0] for row in answer.stdout.splitlines()]
        head = line[: line.rindex(" ") + 1]
        became[line] = line if len(words) != 1 else head + words[0] + ("" if words[0][-1] in "=/" else " ")
    return became


def main() -> None:
    shell, binary = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_folder(folder)
        environment = {
            "PATH": f"{pathlib.Path(binary).resolve().parent}:{os.environ['PATH']}",
            "HOME": name,
            "TERM": "xterm",
            "LANG": "C.UTF-8",
            "PS1": "$ ",
        }
        became = with_fish(folder, environment) if shell == "fish" else with_terminal(shell, folder, environment)
    # zsh takes its space or slash away again when the cursor moves.
    expected = {line: end.rstrip(" /") if shell == "zsh" else end for line, end in LINES.items()}
    wrong = {line: end for line, end in became.items() if end != expected[line]}
    for line, end in wrong.items():
        print(f"{shell}: {line!r} became {end!r}, expected {expected[line]!r}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
