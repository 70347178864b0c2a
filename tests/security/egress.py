"""E: ways around the proxy."""
import json
import time

from guests import run_guest


def events(server, sandbox, prefix):
    answer = server.client.raw("GET", f"/v1/events?sandbox={sandbox.id}&type={prefix}&limit=1000", None,
                               {"X-API-Key": server.client.key})
    assert answer[0] == 200, answer
    return [json.loads(line) for line in answer[2].splitlines() if line.strip()]


def proxy_variables(sandbox):
    """E-01: proxy variables that are unset or point elsewhere change nothing: the redirect is the kernel's."""
    script = ("import socket\ns=socket.create_connection(('192.0.2.1', 80), timeout=5)\n"
              "print('accepted')")
    for envs in ({}, {"HTTP_PROXY": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1", "ALL_PROXY": "socks5://127.0.0.1:1"}):
        result = sandbox.run(["python3", "-c", script], envs=envs)
        assert "accepted" in result.stdout or "Error" in result.stderr, result.stderr
        assert "65501" not in result.stderr


def unresolved_address(server, sandbox):
    """E-02: a connection by address alone is judged by the address, and recorded without a name."""
    sandbox.run(["python3", "-c", "import socket\ns=socket.socket(); s.settimeout(3)\n"
                 "try: s.connect(('169.254.169.254', 80)); s.recv(1)\nexcept OSError: pass"])
    denied = [event for event in events(server, sandbox, "connect.denied") if "169.254.169.254" in json.dumps(event)]
    assert denied, "no connect.denied event names the address"
    assert all(event.get("rule") for event in denied), denied[0]


def no_internet(server):
    """allow_internet_access: false refuses every name and every address, from the first instruction."""
    with server.client.create(allow_internet_access=False) as sandbox:
        began = time.monotonic()
        for target in ("1.1.1.1", "192.0.2.7", "example.org"):
            result = sandbox.run(["python3", "-c", "import socket,sys\n"
                                  f"s=socket.create_connection(({target!r}, 443), timeout=5); s.sendall(b'x'); sys.exit(0 if s.recv(1) else 3)"])
            assert result.exit_code != 0, target
        assert time.monotonic() - began < 10, "refusals took as long as time-outs"


def first_instruction(server):
    """E-16: policy is in force before the first program runs: its very first call is a connection."""
    probe = ("import socket\ns=socket.socket(); s.settimeout(5)\n"
             "try:\n s.connect(('169.254.169.254', 80)); print('open' if s.recv(1) else 'closed')\nexcept OSError as e: print('refused')")
    for _ in range(5):
        with server.client.create() as sandbox:
            assert sandbox.run(["python3", "-c", probe]).stdout.strip() in ("closed", "refused")


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


def checks(tally, server, _full):
    with server.client.create() as sandbox:
        tally.check("E-01 proxy variables", proxy_variables, sandbox)
        tally.check("E-02 an address that was never resolved", unresolved_address, server, sandbox)
        tally.check("E-08 addresses that are always denied", run_guest, sandbox, "e_08_always_denied")
        tally.check("E-09 the proxy's own listeners", run_guest, sandbox, "e_09_proxy_itself")
        tally.check("E-10 packets that are not TCP", run_guest, sandbox, "e_10_other_packets")
    tally.check("E-00 no internet at all", no_internet, server)
    tally.check("E-16 the first instruction", first_instruction, server)
    tally.check("E-17 namespaces are fresh", fresh_namespaces, server)
