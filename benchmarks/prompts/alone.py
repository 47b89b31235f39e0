"""Parts of a run that want a process of their own."""

import os
import subprocess
import sys

from benchmarks.embedding.contestant import SETTINGS
from benchmarks.servers import ROOT


def printed_by(module: str, *options: str) -> bytes:
    """What a module of this package prints, run as a program with one thread a library."""
    command = [sys.executable, "-m", f"benchmarks.prompts.{module}", *options]
    return subprocess.run(command, cwd=ROOT, env=os.environ | SETTINGS, stdout=subprocess.PIPE, check=True).stdout
