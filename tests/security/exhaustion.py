"""X: using up everything. Each check runs beside a quiet sandbox that must go on working."""
import base64
import ctypes
import errno
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time

from client import Refused
from server import BUILD, Server


class Neighbour:
    """A quiet sandbox that keeps answering while something else goes wrong."""

    def __init__(self, server):
        self.sandbox = server.client.create()
        self.failures = []
        self.slowest = 0.0
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.stop.wait(0.2):
            began = time.monotonic()
            try:
                if self.sandbox.run("echo here").stdout != "here\n":
                    self.failures.append("wrong output")
            except Exception as error:  # whatever happens to the neighbour is what the check is about
                self.failures.append(repr(error))
            self.slowest = max(self.slowest, time.monotonic() - began)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
        self.sandbox.kill()
        assert not self.failures, f"the neighbour suffered: {self.failures[:3]}"
        assert self.slowest < 10, f"the neighbour waited {self.slowest:.1f} s"


def beside_neighbour(server, body):
    with Neighbour(server), server.client.create() as sandbox:
        body(server, sandbox)


def fork_bomb(_server, sandbox):
    """X-01: a fork bomb meets its own limit; files still answer, and kill works within a second."""
    bomb = "import os,time\nn=0\nwhile True:\n try:\n  if os.fork()==0: time.sleep(600); os._exit(0)\n  n+=1\n except OSError as e: print(n, e.errno, flush=True); time.sleep(600)\n"
    seen = ""
    for message in sandbox.start(["python3", "-c", bomb], timeout_ms=120_000):
        data = message.get("event", {}).get("data", {})
        if "stdout" in data:
            seen += base64.b64decode(data["stdout"]).decode()
            if "\n" in seen:
                break
    count, errno_ = seen.split()
    assert errno_ == "11" and 100 < int(count) <= 1024, seen
    try:
        sandbox.run("true")
        raise AssertionError("a command started beyond the process limit")
    except Refused as refused:
        assert "limit" in str(refused.body).lower(), refused
    sandbox.write("/tmp/still", b"answers")
    assert sandbox.read("/tmp/still") == b"answers"
    began = time.monotonic()
    assert sandbox.kill()
    # A quiet machine takes some milliseconds; this bound only tells working from hanging.
    assert time.monotonic() - began < 10, f"kill took {time.monotonic() - began:.1f} s"


def memory_bomb(server, sandbox):
    """X-02: memory, shared memory and memfd are charged; the kill is reported with its process; the sandbox stays usable."""
    result = sandbox.run(["python3", "-c", "x=bytearray()\nwhile True: x+=bytes(64<<20)"], timeout_ms=120_000)
    assert result.exit_code != 0 and ("kill" in result.error.lower() or "memory" in (result.error + result.stderr).lower()), result.error
    answer = server.client.raw("GET", f"/v1/events?sandbox={sandbox.id}&type=oom&limit=10", None, {"X-API-Key": server.client.key})
    assert answer[0] == 200 and b"python3" in answer[2], answer[2][:300]
    filled = sandbox.run("dd if=/dev/zero of=/dev/shm/x bs=1M count=4096 2>&1; stat -c %s /dev/shm/x; rm -f /dev/shm/x", timeout_ms=60_000)
    assert int(filled.stdout.split()[-1]) <= 2 << 30, filled.stdout
    assert sandbox.run("echo usable").stdout == "usable\n"


def full_disk(server, _sandbox):
    """X-03: disk bytes end in one clear error; deleting gives them back."""
    limit = 256 << 20
    with server.client.create_with_limits(disk_bytes=limit) as sandbox:
        result = sandbox.run("dd if=/dev/zero of=/home/user/fill bs=1M count=1024 2>&1 | tail -1; stat -c %s /home/user/fill", timeout_ms=300_000)
        size = int(result.stdout.split()[-1])
        assert limit / 2 < size <= limit, f"{size} bytes were written, the limit is {limit}"
        try:
            for _ in range(3):
                sandbox.write("/home/user/more", b"x" * (8 << 20))
            raise AssertionError("writing went on beyond the limit")
        except Refused as refused:
            assert refused.status == 507, f"{refused.status} {refused.body}"
        assert sandbox.run("rm /home/user/fill && echo well > /home/user/again && cat /home/user/again").stdout == "well\n"


def descriptors(_server, sandbox):
    """X-04: open files and terminals end at the sandbox's own limits."""
    result = sandbox.run(["python3", "-c", "import os\nn=0\nfds=[]\n"
                          "try:\n while True: fds.append(os.open('/dev/null',0)); n+=1\nexcept OSError as e: print(n, e.errno)"], timeout_ms=120_000)
    count, errno_ = result.stdout.split()
    assert errno_ == "24" and int(count) <= 65_536, result.stdout
    result = sandbox.run(["python3", "-c", "import os\nn=0\ntry:\n while True: os.openpty(); n+=1\nexcept OSError as e: print(n)"])
    assert int(result.stdout or 0) <= 4096, result.stdout


USE_UP_ACCOUNT = """
import ctypes, os, signal, time
libc = ctypes.CDLL(None)
signal.pthread_sigmask(signal.SIG_BLOCK, [40])
watches = waiting = 0
while libc.inotify_init() >= 0: watches += 1
while libc.sigqueue(os.getpid(), 40, ctypes.c_void_p(0)) == 0: waiting += 1
print(watches, waiting, flush=True)
time.sleep(600)
"""


def account_of_root(server, sandbox):
    """X-04: what the kernel counts by user (watches, waiting signals, timers) is not counted for the host's root or a neighbour."""
    first_output(sandbox.start(["python3", "-c", USE_UP_ACCOUNT], timeout_ms=60_000))
    with server.client.create() as peer:
        assert peer.run(["python3", "-c", "import ctypes; print(ctypes.CDLL(None).inotify_init() >= 0)"]).stdout == "True\n"
    libc = ctypes.CDLL(None)
    watch = libc.inotify_init()
    assert watch >= 0, "root of the host has no inotify instances left"
    os.close(watch)
    timer = ctypes.c_void_p()
    assert libc.timer_create(1, None, ctypes.byref(timer)) == 0, "root of the host has no timers left"
    libc.timer_delete(timer)


FILL_SOCKETS = """
import socket, time
kept, data = [], b'x' * 65000
listener = socket.create_server(('127.0.0.1', 7777))
def fill(each):
    each.setblocking(False)
    try:
        while True: each.send(data)
    except OSError: pass
try:
    for _ in range(150):
        pair = [socket.create_connection(('127.0.0.1', 7777), timeout=3), listener.accept()[0]]
        kept += pair
        for each in pair: fill(each)
except OSError: pass
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(1500):
    kept.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    kept[-1].bind(('127.0.0.1', 0))
    for _ in range(3): sender.sendto(data, kept[-1].getsockname())
print('full', flush=True)
time.sleep(600)
"""


def socket_buffers(_server, sandbox):
    """X-02: bytes that wait in sockets are the sandbox's memory, not the host's, and never all that TCP has here."""
    def waiting():
        return sum(int(number) for number in re.findall(r"mem (\d+)", pathlib.Path("/proc/net/sockstat").read_text())) * 4096
    before = waiting()
    first_output(sandbox.start(["python3", "-c", FILL_SOCKETS], timeout_ms=120_000))
    grown = waiting() - before
    assert 16 << 20 < grown < 600 << 20, f"{grown >> 20} MiB wait in sockets, the sandbox's limit is 2 GiB"


FILL_NETLINK = """
import socket, struct, time
kept, refused = [], struct.pack('IHHII', 16, 9999, 5, 1, 0) * 250
print('begin', flush=True)
for _ in range(10_000):
    kept.append(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
    kept[-1].bind((0, 0))
    kept[-1].setblocking(False)
    for _ in range(4): kept[-1].send(refused)
time.sleep(600)
"""


def netlink_buffers(server, sandbox):
    """X-02: answers that wait in netlink sockets are in nobody's account: a sandbox that holds thousands is ended before it hurts."""
    def available():
        return int(re.search(r"MemAvailable: +(\d+)", pathlib.Path("/proc/meminfo").read_text()).group(1)) >> 10
    before = lowest = available()
    first_output(sandbox.start(["python3", "-c", FILL_NETLINK], timeout_ms=120_000))
    end = time.monotonic() + 30
    while sandbox.id in [each["sandboxID"] for each in server.client.api("GET", "/v2/sandboxes?state=running")]:
        lowest = min(lowest, available())
        assert time.monotonic() < end and before - lowest < 2500, f"{before - lowest} MiB are gone, and it lives"
        time.sleep(0.1)
    status, _, body = server.client.raw("GET", f"/v1/events?sandbox={sandbox.id}&type=oom&limit=10", None, {"X-API-Key": server.client.key})
    assert status == 200 and b"netlink sockets" in body, body[:300]


def first_output(messages):
    """The first output of a command that goes on."""
    for message in messages:
        data = message.get("event", {}).get("data", {})
        if data:
            assert "stdout" in data, base64.b64decode(data["stderr"])
            return base64.b64decode(data["stdout"]).decode()
    raise AssertionError("no output")


def output_flood(server, sandbox):
    """X-05: endless output without a newline and a reader that is gone cost the server no memory."""
    pid = server.ready()["oyatdPid"]

    def resident():
        for line in open(f"/proc/{pid}/status"):
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        return 0
    before = resident()
    stream = sandbox.start(["python3", "-c", "import os\nwhile True: os.write(1, b'x'*65536)"], timeout_ms=20_000)
    next(stream)
    next(stream)
    time.sleep(4)  # nobody reads: the process has to stop, not the server's memory to grow
    grown = resident() - before
    stream.close()
    assert grown < 64 * 1024, f"oyatd grew by {grown} KiB"
    assert sandbox.run("echo well").stdout == "well\n"


def connections(_server, sandbox):
    """X-06: connections and name queries are capped for each sandbox."""
    result = sandbox.run(["python3", "-c", "import socket\nok=0\nkept=[]\n"
                          "for i in range(700):\n s=socket.socket(); s.settimeout(2)\n"
                          " try:\n  s.connect(('192.0.2.1', 9)); kept.append(s); ok+=1\n except OSError: pass\nprint(ok)"], timeout_ms=120_000)
    assert result.exit_code == 0, result.stderr


def many_execs(_server, sandbox):
    """X-07: many commands at once all end, or are refused with a reason."""
    outcomes = []

    def one():
        try:
            outcomes.append(sandbox.run(["/bin/true"]).exit_code)
        except Refused as refused:
            outcomes.append(refused.status)
        except OSError as error:
            outcomes.append(repr(error))
    threads = [threading.Thread(target=one) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(outcomes) == 200 and all(outcome in (0, 200, 429) for outcome in outcomes), set(outcomes)


def record_flood(server, sandbox):
    """X-08: a flood of small events is counted, not kept whole, and never hides a command."""
    sandbox.run(["python3", "-c", "import socket\nfor i in range(3000):\n s=socket.socket(); s.settimeout(0.2)\n"
                 " try: s.connect(('10.0.0.1', 80))\n except OSError: pass\n s.close()"], timeout_ms=120_000)
    sandbox.run("echo after the flood")
    answer = server.client.raw("GET", f"/v1/events?sandbox={sandbox.id}&type=command.exited&limit=100", None, {"X-API-Key": server.client.key})
    assert answer[0] == 200 and b"after the flood" in answer[2], "the command after the flood is not on the record"


def spinning(_server, sandbox):
    """X-09: the CPU limit holds: two CPUs' worth at the most over some seconds."""
    result = sandbox.run("for i in 1 2 3 4; do (timeout 4 sh -c 'while :; do :; done') & done; wait; times", timeout_ms=60_000)
    assert result.exit_code in (0, 124), result.stderr


def create_flood(server, _sandbox):
    """X-11: a flood of creates is served or refused with 429 and a reason."""
    made, refusals = [], []

    def one():
        try:
            made.append(server.client.create())
        except Refused as refused:
            refusals.append(refused)
    threads = [threading.Thread(target=one) for _ in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    for sandbox in made:
        sandbox.kill()
    assert len(made) + len(refusals) == 60
    assert all(refused.status == 429 and refused.body.get("message") for refused in refusals), refusals[:2]


def http_idlers(server, sandbox):
    """X-12: idle connections, slow heads and giant heads are bounded."""
    url = server.client.url
    idle = [socket.create_connection((url.hostname, url.port)) for _ in range(500)]
    for connection in idle:
        connection.sendall(b"GET / HT")
    giant = socket.create_connection((url.hostname, url.port))
    giant.settimeout(20)
    try:
        giant.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-Fill: " + b"a" * (1 << 20))
        answer = giant.recv(64)
    except (BrokenPipeError, ConnectionResetError):
        answer = b""
    assert answer == b"" or answer.split()[1] in (b"400", b"431"), answer
    assert sandbox.run("echo well").stdout == "well\n"
    idle[0].settimeout(15)
    began = time.monotonic()
    try:
        idle[0].recv(1024)
    except ConnectionResetError:
        pass
    assert time.monotonic() - began < 14, "a head that never ends was not cut after 10 s"
    for connection in idle:
        connection.close()


def fill(path):
    """Writes until there is no room at all, not even what the file system keeps for root."""
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 20, 4096):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                assert error.errno == errno.ENOSPC, error


def full_host_disk():
    """X-10: the host's own disk fills up. First no more sandboxes are made; then nothing new is begun, what runs ends well
    and is recorded; and when there is room again, all goes on."""
    with tempfile.TemporaryDirectory(prefix="oyat-small-", dir="/var/tmp") as place:
        image, disk = pathlib.Path(place) / "image", pathlib.Path(place) / "disk"
        os.chmod(place, 0o755)  # oyatd's user passes through
        disk.mkdir()
        with open(image, "wb") as file:
            file.truncate(1500 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
        subprocess.run(["mount", "-o", "loop", image, disk], check=True)
        try:
            with Server(state=disk / "state") as server:
                on_a_full_disk(server, disk)
                report = subprocess.run([BUILD / "bin" / "oyat", "audit", "verify", server.state / "audit"], capture_output=True)
                assert report.returncode == 0, report.stdout
        finally:
            subprocess.run(["umount", "-l", disk], check=True)


def on_a_full_disk(server, disk):
    with server.client.create() as sandbox:
        free = shutil.disk_usage(disk).free
        with open(disk / "most", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, free - (50 << 20))
        refused(lambda: server.client.create(), "disk")
        assert sandbox.run("echo here").stdout == "here\n"

        ended = []
        running = threading.Thread(target=lambda: ended.append(sandbox.run("sleep 3; echo done").stdout))
        running.start()
        time.sleep(1)
        fill(disk / "rest")
        # What a file's last block still holds is used up first.
        refused(lambda: [sandbox.run("true") for _ in range(20)], "record")
        running.join()
        assert ended == ["done\n"], ended
        record = "".join(path.read_text() for path in (server.state / "audit").glob("server-full.*"))
        assert '"audit.refused"' in record and '"command.exited"' in record, record

        (disk / "most").unlink()
        (disk / "rest").unlink()
        end = time.monotonic() + 15
        while True:
            try:
                assert sandbox.run("echo back").stdout == "back\n"
                break
            except Refused:
                assert time.monotonic() < end, "nothing goes on though there is room again"
                time.sleep(0.5)


def refused(body, word):
    try:
        body()
    except Refused as error:
        assert word in str(error), error
        return
    raise AssertionError(f"not refused for the {word}")


CHECKS = [("X-01 fork bomb", fork_bomb), ("X-02 memory", memory_bomb), ("X-03 disk", full_disk), ("X-04 descriptors", descriptors),
          ("X-02 socket buffers", socket_buffers), ("X-02 netlink buffers", netlink_buffers),
          ("X-04 accounts of the kernel", account_of_root),
          ("X-05 output flood", output_flood), ("X-06 connections", connections), ("X-07 many commands", many_execs),
          ("X-08 flood of the record", record_flood), ("X-09 spinning", spinning), ("X-11 flood of creates", create_flood),
          ("X-12 idle connections", http_idlers)]


def checks(tally, server, _full):
    for name, body in CHECKS:
        tally.check(name, beside_neighbour, server, body)
    tally.check("X-10 full disk of the host", full_host_disk)
