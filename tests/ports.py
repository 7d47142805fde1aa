"""Free ports."""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from itertools import cycle, islice
from pathlib import Path

# Below the ports that systems give to connections and to servers that ask for any port: one of these
# could take the port between this call and the start of the server it is for.
PORTS = range(10_000, 16_000)


def free_port() -> int:
    """Return a port of this machine that is free now, and that no test was given for a while:
    all processes of tests take turns through one file.
    """
    path = Path(tempfile.gettempdir()) / f"proofroom-test-ports-{os.getuid()}"
    with path.open("a+") as turns:
        fcntl.flock(turns, fcntl.LOCK_EX)
        turns.seek(0)
        given = int(turns.read() or 0)
        for turn, port in enumerate(islice(cycle(PORTS), given, given + len(PORTS)), given + 1):
            if is_free(port):
                turns.truncate(0)
                turns.write(str(turn % len(PORTS)))
                return port
    raise RuntimeError(f"no port is free from {PORTS.start} to {PORTS.stop - 1}")


def is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
