"""Stubs made from the .proto files, and servers to call.

Owns what every test needs: `api` (the generated modules), `start` (runs herdsmand with settings of a test's own) and
`server` (one that all tests share, with the defaults). Only what a user of the released program has is used here: the
contract and the executable.
"""

import importlib
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import threading
import types

import grpc
import pytest
from google.protobuf import json_format
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from grpc_tools import protoc

ROOT = pathlib.Path(__file__).parents[2]
HERDSMAND = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug/herdsmand"
# Far above what any of it takes: reached only when something hangs.
PATIENCE_S = 30


@pytest.fixture(scope="session")
def api(tmp_path_factory):
    """The generated messages and stubs, in one namespace."""
    out = tmp_path_factory.mktemp("stubs")
    proto = ROOT / "proto"
    files = [str(path) for path in proto.rglob("*.proto")]
    assert protoc.main(["", f"-I{proto}", f"--python_out={out}", f"--grpc_python_out={out}", *files]) == 0
    sys.path.insert(0, str(out))
    names = ["rules_pb2", "turn_pb2", "strategy_pb2", "solver_pb2", "solver_pb2_grpc"]
    modules = [importlib.import_module(f"herdsman.v1.{name}") for name in names]
    return types.SimpleNamespace(**{k: v for module in modules for k, v in vars(module).items() if k[0].isupper()})


class Server:
    """A running herdsmand, its channel and its stub."""

    def __init__(self, api, *flags):
        self.api = api
        env = {name: value for name, value in os.environ.items() if not name.startswith("HERDSMAN_")}
        self.process = subprocess.Popen(
            [HERDSMAND, "--listen", "127.0.0.1:0", *flags],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env,
        )
        self.output, lines = [], queue.Queue()
        threading.Thread(target=self._read, args=(lines,), daemon=True).start()
        self.address = None
        while self.address is None:
            line = lines.get(timeout=PATIENCE_S)
            assert line is not None, "herdsmand ended before it listened:\n" + "".join(self.output)
            found = re.search(r"127\.0\.0\.1:[1-9]\d*", line)
            self.address = found and found[0]
        self.channel = grpc.insecure_channel(self.address)
        self.stub = api.SolverServiceStub(self.channel)

    def _read(self, lines):
        for line in self.process.stdout:
            self.output.append(line)
            lines.put(line)
        lines.put(None)

    def call(self, method, request, timeout=PATIENCE_S):
        """Calls a method with a request in JSON form."""
        message = json_format.ParseDict(request, getattr(self.api, f"{method}Request")())
        return getattr(self.stub, method)(message, timeout=timeout)

    def refused(self, method, request, timeout=PATIENCE_S):
        """Calls a method that must fail; gives its code, message and details by type."""
        with pytest.raises(grpc.RpcError) as caught:
            self.call(method, request, timeout)
        return refusal(caught.value)

    def stop(self):
        """Asks it to stop; gives the exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=PATIENCE_S)
        self.channel.close()
        return code


def refusal(error):
    """The code, message and details by type of a failed call, as grpcio-status decodes them."""
    status = rpc_status.from_call(error)
    assert status is not None, f"no details: {error}"
    details = {}
    for packed in status.details:
        message = getattr(error_details_pb2, packed.TypeName().rpartition(".")[2])()
        assert packed.Unpack(message)
        details[type(message).__name__] = message
    return types.SimpleNamespace(code=error.code(), message=status.message, **details)


@pytest.fixture
def start(api):
    """Starts servers that end with the test."""
    servers = []

    def run(*flags):
        servers.append(Server(api, *flags))
        return servers[-1]

    yield run
    for server in servers:
        server.process.kill()
        server.process.wait()


@pytest.fixture(scope="session")
def server(api):
    """A server with the default settings, which must end well."""
    shared = Server(api)
    yield shared
    assert shared.stop() == 0
