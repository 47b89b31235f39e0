"""The cores that a run uses, and what a process has taken of them."""

import os
import platform
import re
from pathlib import Path

_CORES = sorted(os.sched_getaffinity(0))
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")

SERVER_CORE = _CORES[0]
CLIENT_CORE = _CORES[1] if len(_CORES) > 1 else _CORES[0]


def pin(pid: int, core: int) -> None:
    """Keep a process, with all the threads it has or will have, on one core."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), {core})


def cpu_seconds(pid: int) -> float:
    """User and system time that a process and its living descendants have taken so far; it moves in steps of 10 ms."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND
    children = " ".join([listed.read_text() for listed in Path(f"/proc/{pid}/task").glob("*/children")])
    return own + sum([cpu_seconds(int(child)) for child in children.split()])


def resident_megabytes(pid: int) -> float:
    """Memory that a process holds at this moment."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * _PAGE_BYTES / 1e6


def forget_peak() -> float:
    """Megabytes that this process holds now, which are the most from now on."""
    Path("/proc/self/clear_refs").write_text("5")
    return _own_megabytes("VmRSS")


def peak_megabytes() -> float:
    """The most that this process has held since then."""
    return _own_megabytes("VmHWM")


def _own_megabytes(field: str) -> float:
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def described() -> dict[str, object]:
    """What the figures of a run depend on: system, interpreter, cores in use, load at this moment."""
    system = os.uname()
    return {
        "system": f"{system.sysname} {system.machine}",
        "python": platform.python_version(),
        "server_core": SERVER_CORE,
        "client_core": CLIENT_CORE,
        "load": [round(average, 2) for average in os.getloadavg()],
    }
