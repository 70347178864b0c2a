"""Starts a server of its own for a test run: scripts/serve on a fresh state and a free port, ended and removed at the end."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from client import Client

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("OYAT_BUILD", ROOT / "build" / "release"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """with Server() as server: server.client.create() ..."""

    def __init__(self, *, ephemeral=True, options=(), state=None, build=BUILD, tls_domain=None):
        self.own_state = state is None
        self.state = pathlib.Path(state or tempfile.mkdtemp(prefix="oyat-test-", dir="/var/tmp"))
        self.ready_file = self.state / "ready.json"
        self.ephemeral = ephemeral
        self.options = list(options)
        self.build = build
        self.tls_domain = tls_domain  # "NAME:PORT"
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, *_):
        self.stop()
        if self.own_state:
            if kind is None:
                # The record is append-only, also for root, until the attribute is taken away.
                subprocess.run(["chattr", "-R", "-f", "-a", str(self.state / "audit")], check=False)
                shutil.rmtree(self.state)
            else:
                print(f"state and logs are kept in {self.state}")

    def start(self):
        self.ready_file.unlink(missing_ok=True)
        command = [str(ROOT / "scripts" / "serve"), "--state", str(self.state), "--listen", "127.0.0.1:0", "--ready-file",
                   str(self.ready_file)]
        if self.ephemeral:
            command.append("--ephemeral")
        if self.tls_domain:
            command += ["--tls-domain", self.tls_domain]
        if self.options:
            command += ["--", *self.options]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env={**os.environ, "OYAT_BUILD": str(self.build)})
        self.wait_ready()

    def wait_ready(self, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"serve ended with {self.process.returncode}; logs in {self.state}/log")
            if self.ready_file.exists():
                return self.ready()
            time.sleep(0.05)
        raise RuntimeError(f"the server is not ready after {seconds} s; logs in {self.state}/log")

    def ready(self):
        return json.loads(self.ready_file.read_text())

    def wait_restarted(self, old, seconds=30):
        """Waits until the ready file names other pids than `old` (a dict of it) for what was killed."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                now = self.ready()
                alive = all(pathlib.Path(f"/proc/{now[key]}").exists() for key in ("oyatdPid", "keeperPid"))
                if alive and (now["oyatdPid"], now["keeperPid"]) != (old["oyatdPid"], old["keeperPid"]):
                    return now
            except (OSError, ValueError):
                pass
            time.sleep(0.02)
        raise RuntimeError("the server did not come back")

    @property
    def client(self):
        ready = self.ready()
        return Client(ready["url"], ready["apiKey"])

    def environment(self):
        """What an SDK needs to find this server."""
        ready = self.ready()
        by_domain = {}
        if ready["domain"]:
            bundle = str(pathlib.Path(ready["caFile"]).with_name("bundle.pem"))
            by_domain = {"E2B_DOMAIN": ready["domain"], "NODE_EXTRA_CA_CERTS": ready["caFile"], "SSL_CERT_FILE": bundle,
                         "CURL_CA_BUNDLE": bundle}
        return {**by_domain, "E2B_API_URL": ready["url"], "E2B_SANDBOX_URL": ready["url"], "E2B_API_KEY": ready["apiKey"],
                "OYAT_URL": ready["url"], "OYAT_API_KEY": ready["apiKey"]}

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise RuntimeError("serve did not end within a minute of SIGTERM") from None
