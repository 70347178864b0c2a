"""Times on the wire: a raw client on one kept-alive connection. Used by bench/run."""
import json
import os
import pathlib
import socket
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "support"))

from client import Client  # noqa: E402


class Wire:
    """One kept-alive HTTP/1.1 connection with TCP_NODELAY and as little code of its own as possible."""

    def __init__(self, client):
        self.host = client.url.netloc
        self.socket = socket.create_connection((client.url.hostname, client.url.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def until(self, mark):
        while mark not in self.buffer:
            part = self.socket.recv(1 << 18)
            if not part:
                raise ConnectionError("closed")
            self.buffer += part
        head, self.buffer = self.buffer.split(mark, 1)
        return head

    def exec_true(self, sandbox):
        message = json.dumps({"process": {"cmd": "/bin/true", "args": []}, "stdin": False}).encode()
        body = b"\0" + struct.pack(">I", len(message)) + message
        headers = sandbox.headers()
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.socket.sendall((f"POST /process.Process/Start HTTP/1.1\r\nHost: {self.host}\r\n{head}Content-Type: application/connect+json\r\n"
                             f"Connect-Protocol-Version: 1\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body)
        head = self.until(b"\r\n\r\n")
        if b" 200 " not in head.split(b"\r\n")[0] + b" ":
            raise ConnectionError(head.decode())
        self.until(b"0\r\n\r\n")

    def upload(self, sandbox, path, total):
        head = "".join(f"{name}: {value}\r\n" for name, value in sandbox.headers().items())
        self.socket.sendall((f"POST /files?path={path}&username=user HTTP/1.1\r\nHost: {self.host}\r\n{head}"
                             f"Content-Type: application/octet-stream\r\nContent-Length: {total}\r\n\r\n").encode())
        block = b"x" * (1 << 20)
        for _ in range(total >> 20):
            self.socket.sendall(block)
        head = self.until(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]) if b"ontent-" in head else 0
        while len(self.buffer) < length:
            self.buffer += self.socket.recv(1 << 16)
        self.buffer = b""
        if b" 200 " not in head.split(b"\r\n")[0] + b" ":
            raise ConnectionError(head.decode())

    def download(self, sandbox, path, total):
        head = "".join(f"{name}: {value}\r\n" for name, value in sandbox.headers().items())
        self.socket.sendall((f"GET /files?path={path}&username=user HTTP/1.1\r\nHost: {self.host}\r\n{head}\r\n").encode())
        self.until(b"\r\n\r\n")
        left = total - len(self.buffer)
        self.buffer = b""
        into = bytearray(1 << 20)
        while left > 0:
            got = self.socket.recv_into(into)
            if not got:
                raise ConnectionError("closed")
            left -= got


def resident_kib(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def exec_samples(client, n):
    """Milliseconds of exec round trips of /bin/true."""
    with client.create() as sandbox:
        wire = Wire(client)
        for _ in range(20):
            wire.exec_true(sandbox)
        samples = []
        for _ in range(n):
            began = time.perf_counter()
            wire.exec_true(sandbox)
            samples.append(1000 * (time.perf_counter() - began))
        return samples


def file_rates(client, oyatd_pid, total=1 << 30, rounds=3):
    """MB/s up and down, and by how many KiB oyatd's resident memory grew meanwhile."""
    with client.create() as sandbox:
        wire, up, down = Wire(client), [], []
        before = resident_kib(oyatd_pid)
        peak = before
        for round_ in range(rounds):
            path = f"/home/user/big{round_}"
            began = time.perf_counter()
            wire.upload(sandbox, path, total)
            up.append(total / 1e6 / (time.perf_counter() - began))
            peak = max(peak, resident_kib(oyatd_pid))
            began = time.perf_counter()
            wire.download(sandbox, path, total)
            down.append(total / 1e6 / (time.perf_counter() - began))
            peak = max(peak, resident_kib(oyatd_pid))
            sandbox.run(f"rm {path}")
        return up, down, peak - before


if __name__ == "__main__":
    print(exec_samples(Client(os.environ["E2B_API_URL"], os.environ["E2B_API_KEY"]), int(sys.argv[1])))
