"""When processes began, which with its id names a process for ever."""

from pathlib import Path


def birth(pid: int) -> str:
    """When a process began, in the kernel's clock ticks; empty when it does not run, and for a zombie.

    With the process id it names one process for ever. A command line would not do:
    Neutron overwrites its own, and its environment with it.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]
