"""The command of the package: output, exit codes, signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from .conftest import COMMAND, run


def test_output_and_exit_codes(templates: Path, tmp_path: Path) -> None:
    assert run("--version").stdout.startswith(b"dropforge 0.")
    usage = run("stamp")
    assert (usage.returncode, usage.stdout, b"Usage: dropforge stamp" in usage.stderr) == (2, b"", True)
    bad = tmp_path / "bad.tera"
    bad.write_text("{{ }}")
    failed = run("--error-format", "json", "check", bad)
    assert failed.returncode == 1 and json.loads(failed.stderr.splitlines()[0])["severity"] == "error"
    rendered = subprocess.run(
        [sys.executable, "-m", "dropforge", "render", "-", "--lang", "tera", "--set", "a=1"], input=b"{{ a }}", capture_output=True
    )
    assert (rendered.returncode, rendered.stdout) == (0, b"1")


def test_a_closed_pipe_ends_quietly(templates: Path, tmp_path: Path) -> None:
    fleet = tmp_path / "fleet.ndjson"
    fleet.write_text("".join(f'{{"name":"c{at}","zones":["{"z" * 500}"]}}\n' for at in range(2000)))
    command: list[str | Path] = [COMMAND, "stamp", templates / "zones.txt.tera", "--fleet", fleet, "--layout", "single", "-q"]
    reader, writer = os.pipe()
    process = subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    os.read(reader, 10)
    os.close(reader)
    assert (process.communicate(timeout=60)[1], process.returncode) == (b"", 141)


def interrupted(command: list[str | Path], number: int, started: Path) -> int:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    end = time.monotonic() + 60
    while not started.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(number)
    process.communicate(timeout=60)
    return process.returncode


def test_signals_end_a_run_as_they_end_the_binary(tmp_path: Path) -> None:
    template = tmp_path / "slow.txt.tera"
    template.write_text("{% for a in range(end=3000) %}{% for b in range(end=300) %}{% endfor %}{% endfor %}{{ name }}")
    fleet = tmp_path / "fleet.ndjson"
    fleet.write_text("".join(f'{{"name":"c{at}"}}\n' for at in range(5000)))
    for number in (signal.SIGINT, signal.SIGTERM):
        out = tmp_path / f"out{number}"
        command: list[str | Path] = [COMMAND, "-j", "1", "stamp", template, "--fleet", fleet, "-o", out, "-q"]
        assert interrupted(command, number, out / "c0/slow.txt") == 128 + number
        left = len(list(out.glob("*/slow.txt")))
        assert 0 < left < 5000


def test_an_interrupt_kills_a_command_that_listens_to_none() -> None:
    # It waits for its template.
    process = subprocess.Popen([COMMAND, "render", "-", "--lang", "tera"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    time.sleep(2)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == -signal.SIGINT
    assert process.stdin is not None
    process.stdin.close()
