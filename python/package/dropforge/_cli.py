"""The command `dropforge`, in this process."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> None:
    """Runs the command line of this process and ends with its exit code."""
    # Python turns an interrupt into an exception, which nothing would see before the command returns.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    sys.stderr.flush()
    sys.exit(_native.main(["dropforge", *sys.argv[1:]]))
