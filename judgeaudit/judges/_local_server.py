"""One llama.cpp server in a process of its own. Run as a script by `_local_worker`, never imported.

The first line of standard input is its configuration; it answers with one line of JSON that holds
its address or an error, and serves until standard input ends, which it also does when the parent is
killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys


def main() -> None:
    """Serve until the parent closes the pipe."""
    # Ctrl-C reaches the whole group: the parent decides whether calls in flight are finished
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    told = json.loads(sys.stdin.buffer.readline())
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = told["path"]
    params.model_alias = {told["alias"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [told["key"]]
    params.n_ctx = told["context"]
    params.fit_params = False
    # One thread, one sequence, blocks of one size, no cache of its own: the numbers that a prompt
    # gives must not depend on the machine's load, on neighbours or on what was asked before.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.n_gpu_layers = 0
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = told["batch"]
    params.cache_ram_mib = 0
    params.slot_save_path = told["folder"] + os.sep
    params.offline = True
    params.ui = False
    params.verbosity = 1
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        answer = {"error": str(error)}
    else:
        answer = {"address": server.listening_address}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
    sys.stdin.buffer.read()
    # not by way of the destructor: it waits for ever if a request is being served
    os._exit(0)


if __name__ == "__main__":
    main()
