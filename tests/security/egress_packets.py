"""E-09, E-10, E-22: packets that are no redirected TCP connection, and what happens while nobody judges."""
import os
import signal
import time

import doors
from doors import a_try
from guests import run_guest
from internet import METADATA, PRIVATE


def other_packets(server, internet):
    """Neither UDP, QUIC, IPv6, ICMP nor another transport gets a single packet out."""
    with server.client.create() as sandbox:
        for guest in ("e_09_proxy_itself", "e_10_other_packets"):
            with doors.nothing_leaves(internet, sandbox):
                run_guest(sandbox, guest)
        with doors.nothing_leaves(internet, sandbox):
            tries = [a_try("203.0.113.10", port, b"\xc0" + b"x" * 1199, udp=True, wait=1) for port in (443, 80, 123, 500, 4500, 51820, 3478, 5353)]
            tries += [a_try("2001:db8::2", 443, b"x", udp=True, wait=1), a_try("2001:db8::2", 443, b"x"), a_try("2002:cb00:710a::1", 443, b"x")]
            for user in doors.USERS:
                for attempt, outcome in zip(tries, doors.knock(sandbox, tries, user)):
                    assert outcome.errno in ("EPERM", "EACCES", "ENETUNREACH", "EHOSTUNREACH", "ECONNREFUSED") and outcome.ms < 200, (attempt, outcome)


LONG_TALK = f"""
import socket, time
def opens(address, port):
    try:
        with socket.create_connection((address, port), timeout=2) as knock:
            knock.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')
            return bool(knock.recv(1))
    except OSError:
        return False
talk = socket.create_connection(('a.test', 7), timeout=10)
talk.sendall(b'x'); assert talk.recv(1) == b'x'
print('talking', flush=True)
open('/tmp/talking', 'w').close()
ended, through = '', 0
until = time.monotonic() + 60
while not ended and time.monotonic() < until:
    through += opens('{METADATA}', 80) + opens('{PRIVATE}', 443)
    try:
        talk.sendall(b'x'); ended = '' if talk.recv(1) else 'closed'
    except OSError as error:
        ended = type(error).__name__
for _ in range(200):
    through += opens('{METADATA}', 80) + opens('{PRIVATE}', 443)
    time.sleep(0.005)
open('/tmp/said', 'w').write(f'{{ended}} {{through}}')
"""


def no_judge(server, internet):
    """E-22: when oyatd dies its connections end, and until the next one judges nothing at all gets out."""
    with server.client.create() as sandbox:
        doors.reach(internet, sandbox)
        sandbox.write("/tmp/talk.py", LONG_TALK.encode())
        before = server.ready()
        talk = sandbox.start(["python3", "/tmp/talk.py"], timeout_ms=0)
        assert any("data" in message["event"] for message in talk), "the talk did not begin"
        internet.forget()
        os.kill(before["oyatdPid"], signal.SIGKILL)
        server.wait_restarted(before)
        said, end = b"", time.monotonic() + 30
        while not said and time.monotonic() < end:
            time.sleep(0.1)
            said = sandbox.run("cat /tmp/said 2>/dev/null; true").stdout.encode()
        ended, through = said.decode().split()
        assert ended in ("ConnectionResetError", "closed", "BrokenPipeError"), ended
        assert through == "0", f"{through} connections got through"
        left = [packet for packet in internet.packets.all() if packet[1] in (METADATA, PRIVATE)]
        assert not left, left
        doors.reach(internet, sandbox)


def checks(tally, server, internet):
    tally.check("E-10 packets that are not TCP, and nothing leaves", other_packets, server, internet)
    tally.check("E-22 nobody judges", no_judge, server, internet)
