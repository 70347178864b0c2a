"""Long bodies both ways and WebSockets, on connections that are read."""
import hashlib
import pathlib
import re

from services import tls
from streaming import PIECE, streaming

ADDRESS = "203.0.113.61"
PIECES = 200  # of 1 MiB
GROWTH = 24 * 1024 * 1024
POLICY = {"preset": "packages-only", "rule": [
    {"id": "stream", "category": "internal-apis", "action": "allow", "host": ["stream.test"], "port": [443], "method": ["GET", "PUT"],
     "path": ["/long/*", "/chat"]}]}
CHAT = """import asyncio, sys, websockets
async def talk():
    async with websockets.connect(sys.argv[1]) as socket:
        for word in ("hello", "again"):
            await socket.send(word)
            print(await socket.recv())
asyncio.run(talk())
"""


def most_memory(server):
    """Of oyatd, since forget_memory()."""
    return int(re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{server.ready()['oyatdPid']}/status").read_text())[1]) * 1024


def forget_memory(server):
    pathlib.Path(f"/proc/{server.ready()['oyatdPid']}/clear_refs").write_text("5")
    return most_memory(server)


def stays_flat(server, workplace, command, expected):
    before = forget_memory(server)
    result = workplace.run(command, timeout_ms=180_000)
    assert result.exit_code == 0 and result.stdout.split()[0] == expected, result.stdout + result.stderr
    grown = most_memory(server) - before
    assert grown < GROWTH, f"oyatd grew by {grown >> 20} MiB"


def down(server, workplace, options):
    stays_flat(server, workplace, f"curl -sS {options} --max-time 170 https://stream.test/long/{PIECES} | sha256sum", hashlib.sha256(PIECE * PIECES).hexdigest())


def up(server, workplace, options):
    workplace.write("/tmp/piece", PIECE)
    workplace.run(f"for i in $(seq {PIECES}); do cat /tmp/piece; done >/tmp/long", timeout_ms=60_000)
    stays_flat(server, workplace, f"curl -sS {options} --max-time 170 -T /tmp/long https://stream.test/long/0", hashlib.sha256(PIECE * PIECES).hexdigest())


def websocket(workplace, internet):
    result = workplace.run("python3 -m venv /tmp/venv && /tmp/venv/bin/pip install websockets 2>&1", timeout_ms=300_000)
    assert result.exit_code == 0, result.stdout[-500:]
    workplace.write("/tmp/chat.py", CHAT.encode())
    result = workplace.run("/tmp/venv/bin/python /tmp/chat.py wss://stream.test/chat")
    assert result.stdout == "HELLO\nAGAIN\n", result.stdout + result.stderr[-800:]
    internet.forget()
    result = workplace.run("/tmp/venv/bin/python /tmp/chat.py wss://stream.test/other")
    assert result.exit_code != 0 and "403" in result.stderr and internet.services.visits == [], result.stderr[-500:]


def checks(tally, server, internet):
    if not tally.wants("streams"):
        return
    internet.names.hosts["stream.test"] = [ADDRESS]
    internet.services.serve(443, tls({"stream.test": internet.authority.server_context("stream.test")}, streaming), address=ADDRESS)
    with server.client.create(timeout=900, policy=POLICY) as workplace:
        workplace.client.timeout = 400
        for version in ("--http1.1", "--http2"):
            tally.check(f"streams: {PIECES} MiB down in little memory, {version}", down, server, workplace, version)
            tally.check(f"streams: {PIECES} MiB up in little memory, {version}", up, server, workplace, version)
        tally.check("streams: a WebSocket on a path that is allowed, and none on another", websocket, workplace, internet)
