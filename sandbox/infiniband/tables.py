"""Reads P_Key tables of ports: a program of its own, which runs under ibsim's library until its input ends.

One line of input is one question, `LID/PORT/BLOCKS LID/PORT/BLOCKS …`; the answer is a line for each of them, LID/PORT
and the rows of its table as hex words, or `-` for a port that does not answer, and an empty line. It asks the ports
themselves by SMPs (libibmad), as `smpquery pkeys` does, which would take a process for each port. Nothing but the
standard library.
"""

from __future__ import annotations

import ctypes
import sys

#: Attribute of subnet management packets, and the rows of one block.
_PKEY_TABLE, _ROWS = 0x16, 32
#: Management classes: LID-routed and directed SMPs.
_CLASSES = (0x01, 0x81)


def opened(library: ctypes.CDLL) -> int | None:
    """A port through which SMPs are sent; None if there is none."""
    open_port = library.mad_rpc_open_port
    open_port.restype = ctypes.c_void_p
    open_port.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
    classes = (ctypes.c_int * len(_CLASSES))(*_CLASSES)
    found = open_port(None, 0, classes, len(_CLASSES))
    return found if isinstance(found, int) else None


def table(library: ctypes.CDLL, source: int, lid: int, port: int, blocks: int) -> list[int] | None:
    """The rows of a table, with the empty ones; None if the port does not answer."""
    query = library.smp_query_via
    query.restype = ctypes.c_void_p
    query.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p]
    # ib_portid_t begins with the LID; all else is zero for an address by LID. It has some 400 bytes.
    address = ctypes.create_string_buffer(lid.to_bytes(4, sys.byteorder), 1024)
    rows: list[int] = []
    for block in range(blocks):
        answer = ctypes.create_string_buffer(64)
        if not query(answer, address, _PKEY_TABLE, port << 16 | block, 0, source):
            return None
        rows += [int.from_bytes(answer.raw[2 * row : 2 * row + 2], "big") for row in range(_ROWS)]
    return rows


def main() -> int:
    """Answer until the input ends. Exit code 1 if there is no port to ask from."""
    library = ctypes.CDLL("libibmad.so.5")
    source = opened(library)
    if source is None:
        print("no port to ask from", file=sys.stderr)
        return 1
    for line in sys.stdin:
        for word in line.split():
            lid, port, blocks = map(int, word.split("/"))
            rows = table(library, source, lid, port, blocks)
            print(f"{lid}/{port}", *(["-"] if rows is None else [f"{row:04x}" for row in rows]))
        print(flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
