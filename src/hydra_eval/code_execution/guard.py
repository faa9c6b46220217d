"""The child's side, a script of its own: limits itself for good, then runs `program.py` of its folder.

Arguments: a pipe to write `1` to when the last line was reached, megabytes of memory, megabytes per file, seconds of
processor time. Imports nothing of hydra_eval, for a quick start.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import signal
import socket
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

MEGABYTE = 1024 * 1024
OPEN_FILES = 128
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 22, 38
FILTER_MODE = 2
CLONE_THREAD = 0x00010000
X32 = 0x40000000
"""Set in the numbers of a second calling convention of x86-64."""
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000
LOAD, EQUAL, AT_LEAST, HAS_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
"""Classic BPF: load a word, three jumps, return."""
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
"""Offsets in the kernel's `seccomp_data`."""
SYSTEMS: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "socket": 41,
            "clone": 56,
            "fork": 57,
            "vfork": 58,
            "kill": 62,
            "ptrace": 101,
            "rt_sigqueueinfo": 129,
            "tkill": 200,
            "tgkill": 234,
            "process_vm_writev": 311,
            "pidfd_send_signal": 424,
            "io_uring_setup": 425,
            "clone3": 435,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "ptrace": 117,
            "kill": 129,
            "tkill": 130,
            "tgkill": 131,
            "rt_sigqueueinfo": 138,
            "socket": 198,
            "clone": 220,
            "process_vm_writev": 271,
            "pidfd_send_signal": 424,
            "io_uring_setup": 425,
            "clone3": 435,
        },
    ),
}
"""Machine → (its number in the kernel's audit, system calls that are looked at)."""
TO_ITSELF_ONLY = ("kill", "tgkill")


class Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_ushort),
        ("if_true", ctypes.c_ubyte),
        ("if_false", ctypes.c_ubyte),
        ("k", ctypes.c_uint),
    )


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.POINTER(Instruction)))


def limit_resources(megabytes: int, file_megabytes: int, seconds: int) -> None:
    limits = {
        resource.RLIMIT_AS: megabytes * MEGABYTE,
        resource.RLIMIT_FSIZE: file_megabytes * MEGABYTE,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in limits.items():
        with suppress(ValueError, OSError):  # a system that has no such limit, or a lower one
            resource.setrlimit(kind, (most, most))


def refuse_by_kernel() -> bool:
    """No sockets, no children (threads are fine), no signals to others; False where the kernel does not do it."""
    if sys.platform != "linux" or platform.machine() not in SYSTEMS:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    rules = rules_for(*SYSTEMS[platform.machine()], own=os.getpid())
    instructions = (Instruction * len(rules))(*rules)
    program = Program(len(rules), instructions)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(libc.prctl(PR_SET_SECCOMP, FILTER_MODE, ctypes.byref(program), 0, 0) == 0)


def rules_for(architecture: int, numbers: dict[str, int], *, own: int) -> list[Instruction]:
    rules = [
        Instruction(LOAD, 0, 0, ARCHITECTURE),
        Instruction(EQUAL, 1, 0, architecture),
        Instruction(RETURN, 0, 0, KILL),
        Instruction(LOAD, 0, 0, NUMBER),
        Instruction(AT_LEAST, 0, 1, X32),
        Instruction(RETURN, 0, 0, REFUSE | errno.ENOSYS),
    ]
    for name, number in numbers.items():
        if name == "clone":
            rules += _on_argument(number, HAS_BITS, CLONE_THREAD)
        elif name in TO_ITSELF_ONLY:
            rules += _on_argument(number, EQUAL, own)
        else:
            # glibc makes threads by clone where there is no clone3, whose arguments a filter cannot see.
            code = errno.ENOSYS if name == "clone3" else errno.EPERM
            rules += [Instruction(EQUAL, 0, 1, number), Instruction(RETURN, 0, 0, REFUSE | code)]
    return [*rules, Instruction(RETURN, 0, 0, ALLOW)]


def _on_argument(number: int, test: int, wanted: int) -> list[Instruction]:
    """Allow a system call whose first argument passes the test, refuse it otherwise."""
    return [
        Instruction(EQUAL, 0, 4, number),
        Instruction(LOAD, 0, 0, FIRST_ARGUMENT),
        Instruction(test, 0, 1, wanted),
        Instruction(RETURN, 0, 0, ALLOW),
        Instruction(RETURN, 0, 0, REFUSE | errno.EPERM),
    ]


def refused(*args: Any, **kwargs: Any) -> NoReturn:
    raise PermissionError(errno.EPERM, "refused while code of a model runs")


def refuse_by_python() -> None:
    """The same, as far as Python itself goes: for systems whose kernel does not help."""
    import subprocess

    for name in ("fork", "forkpty", "posix_spawn", "posix_spawnp", "system", "kill", "killpg"):
        if hasattr(os, name):
            setattr(os, name, refused)
    for kind in (socket.socket, subprocess.Popen):
        setattr(kind, "__init__", refused)  # noqa: B010  # mypy does not let a method be assigned


def run(file: Path, finished: int) -> NoReturn:
    """The program as `__main__`. Ends the process without waiting for threads that it left."""
    sys.argv = [file.name]
    code = 1
    try:
        exec(compile(file.read_text(encoding="utf-8"), file.name, "exec"), {"__name__": "__main__"})
        os.write(finished, b"1")
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1 if error.code else 0
    except BaseException as error:  # noqa: BLE001  # told to whoever reads the program's output
        traceback.print_exception(error.with_traceback(error.__traceback__ and error.__traceback__.tb_next))
    with suppress(OSError, ValueError):  # a full or closed output
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code & 0xFF)


def main() -> NoReturn:
    finished, megabytes, file_megabytes, seconds = map(int, sys.argv[1:5])
    os.set_inheritable(finished, False)
    limit_resources(megabytes, file_megabytes, seconds)
    if not refuse_by_kernel():
        refuse_by_python()
    run(Path("program.py"), finished)


if __name__ == "__main__":
    main()
