"""E-00, E-01, E-16, E-17: policy holds from the first instruction to the last packet, whatever the program inside believes of proxies."""
import time

import doors
from doors import a_try
from internet import METADATA, OTHER, PRIVATE, SHARED

KNOCKING = f"""
import socket, time
through, tries = 0, 0
until = time.monotonic() + {{seconds}}
# At most 80 a second: more would use up the rate of connections that honest programs have, too.
while time.monotonic() < until:
    for address, port in (('{METADATA}', 80), ('{PRIVATE}', 443)):
        tries += 1
        try:
            with socket.create_connection((address, port), timeout=2) as one:
                one.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')
                through += len(one.recv(1))
        except OSError:
            pass
        time.sleep(0.025)
print(tries, through, flush=True)
"""


def no_internet(server, internet):
    """E-00: allow_internet_access: false refuses every name and every address at once."""
    with server.client.create(allow_internet_access=False) as sandbox:
        internet.forget()
        began = time.monotonic()
        for target in ("1.1.1.1", SHARED, "a.test"):
            result = sandbox.run(["python3", "-c", "import socket,sys\n"
                                  f"s=socket.create_connection(({target!r}, 443), timeout=5); s.sendall(b'x'); sys.exit(0 if s.recv(1) else 3)"])
            assert result.exit_code != 0, target
        assert time.monotonic() - began < 10, "refusals took as long as time-outs"
        assert not internet.packets.all() and not internet.names.asked, internet.names.asked
        doors.on_record(server, sandbox, ("offline",), addr=SHARED, port=443)
        doors.on_record(server, sandbox, ("offline",), name="a.test")


def proxy_variables(server, internet):
    """E-01: whatever the proxy variables say, and for a program that knows none: allowed hosts work, the others do not."""
    lies = {"HTTP_PROXY": "http://127.0.0.1:1", "HTTPS_PROXY": f"http://{OTHER}:443", "ALL_PROXY": f"socks5://{METADATA}:80"}
    with server.client.create() as sandbox:
        for envs in ({}, lies):
            for address in (SHARED, OTHER):
                told = sandbox.run(["python3", "-c", f"import socket\ns=socket.create_connection(({address!r}, 7), timeout=5); s.sendall(b'x'); print(s.recv(1))"],
                                   envs=envs)
                assert told.stdout == "b'x'\n", told.stderr
        doors.stay_shut(server, internet, sandbox, [a_try(METADATA, 80, b"x"), a_try(PRIVATE, 80, b"x")], ("always-deny:", "private"))
        with doors.nothing_to(internet, METADATA):
            assert sandbox.run(["curl", "-sS", "--max-time", "5", "http://c.test/"], envs={"http_proxy": f"http://{METADATA}:80"}).exit_code != 0


def first_instruction(server, internet):
    """E-16: policy is in force before the first program runs: its very first call is a connection."""
    with doors.nothing_to(internet, METADATA), doors.nothing_to(internet, PRIVATE):
        for _ in range(8):
            with server.client.create() as sandbox:
                assert sandbox.run(["python3", "-c", KNOCKING.format(seconds=0.05)]).stdout.split()[1] == "0"


def pause_and_resume(server, internet):
    """E-16: a program that knocks all the time gets nothing through while its sandbox sleeps and wakes."""
    with server.client.create() as sandbox, doors.nothing_to(internet, METADATA), doors.nothing_to(internet, PRIVATE):
        sandbox.write("/tmp/knocking.py", KNOCKING.format(seconds=6).encode())
        assert sandbox.run("nohup python3 /tmp/knocking.py >/tmp/knocked 2>&1 & sleep 0.3").exit_code == 0
        for _ in range(3):
            server.client.api("POST", f"/sandboxes/{sandbox.id}/pause")
            server.client.api("POST", f"/sandboxes/{sandbox.id}/resume", {"timeout": 300})
            doors.reach(internet, sandbox)
        end = time.monotonic() + 20
        while not (said := sandbox.run("cat /tmp/knocked").stdout.split()) and time.monotonic() < end:
            time.sleep(0.1)
        assert int(said[0]) > 10 and said[1] == "0", said


def fresh_namespaces(server):
    """E-17: a network namespace is never given to a second sandbox."""
    seen = set()
    for _ in range(12):
        with server.client.create() as sandbox:
            name = sandbox.run(["readlink", "/proc/self/ns/net"]).stdout.strip()
            cookie = sandbox.run(["python3", "-c", "import socket,struct\ns=socket.socket()\n"
                                  "print(struct.unpack('Q', s.getsockopt(1, 71, 8))[0])"]).stdout.strip()
            assert (name, cookie) not in seen, f"{name} was reused"
            seen.add((name, cookie))


def nothing_after_the_end(server, internet):
    """E-17: a deleted sandbox sends nothing any more, not even what was under way."""
    sandbox = server.client.create()
    stream = sandbox.start(["python3", "-c", "import socket\ns=socket.create_connection(('c.test', 7)); print('on', flush=True)\n"
                            "while True: s.sendall(bytes(65536)); s.recv(65536)"], timeout_ms=0)
    assert any(b"on" in doors.output_of(message) for message in stream)
    sandbox.kill()
    internet.packets.all()
    before = internet.packets.total
    time.sleep(0.5)
    internet.packets.all()
    assert internet.packets.total == before > 0, f"{internet.packets.total - before} packets came afterwards"


def checks(tally, server, internet):
    tally.check("E-00 no internet at all", no_internet, server, internet)
    tally.check("E-01 proxy variables", proxy_variables, server, internet)
    tally.check("E-16 the first instruction", first_instruction, server, internet)
    tally.check("E-16 sleep and waking", pause_and_resume, server, internet)
    tally.check("E-17 namespaces are fresh", fresh_namespaces, server)
    tally.check("E-17 nothing after the end", nothing_after_the_end, server, internet)
