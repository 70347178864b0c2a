"""J-07, V-07, V-08: what the network of a sandbox is made of, seen from inside: no interface, listener or socket but the few that the way out needs, and no
way to make another. G-01, V-01: the same of engines with a network stack of their own, whose root may change it."""
import pathlib
import time

import doors
from tally import Skipped

# TCP: the way out and the name server. UDP: the name server.
LISTENERS = {"tcp 127.0.0.1:65501", "tcp 127.0.0.1:65502", "udp 127.0.0.1:65502"}
CHANGES = ("ip link add d0 type dummy", "ip link add v0 type veth", "ip tuntap add dev t0 mode tap", "ip link set lo mtu 9000", "ip link set lo down",
           "ip link set lo address 02:00:00:00:00:01", "ip address add 10.254.0.9/32 dev lo", "ip address add 169.254.169.254/32 dev lo",
           "ip address del 10.254.0.2/32 dev lo", "ip route replace default via 127.0.0.1", "ip route add 1.1.1.1/32 dev lo", "ip -6 route add default dev lo",
           "ip rule add from all lookup 7", "ip neigh add 10.9.9.9 lladdr 02:00:00:00:00:01 dev lo", "ip netns add n0", "ip link set lo netns 1",
           "sysctl -q -w net.ipv4.ip_forward=1", "sysctl -q -w net.ipv4.conf.all.route_localnet=1", "sysctl -q -w net.ipv6.conf.all.disable_ipv6=0",
           "sysctl -q -w net.ipv4.ip_unprivileged_port_start=0 net.ipv4.ip_nonlocal_bind=1")


def is_made_of(server, internet):
    with server.client.create() as sandbox:
        for user in doors.USERS:
            with doors.nothing_leaves(internet, sandbox):
                interfaces = [line.split()[0] for line in sandbox.run("cat /proc/net/dev", user=user).stdout.splitlines()[2:]]
                assert interfaces == ["lo:"], interfaces
                lines = sandbox.run("ss --no-header --listening --numeric --tcp --udp --raw --packet --sctp --dccp 2>/dev/null", user=user).stdout.splitlines()
                listening = {f"{line.split()[0]} {line.split()[4]}" for line in lines if line.split()[0] != "Netid"}
                assert listening == LISTENERS, listening
                assert "@" not in sandbox.run("cat /proc/net/unix", user=user).stdout, "somebody's abstract socket"
                for change in CHANGES:
                    assert sandbox.run(change, user=user).exit_code != 0, f"as {user}: {change}"


# Ways past a network stack that is the sandbox's own: its root may change all of that, and gains nothing by it.
DETOURS = ("ip route replace default dev eth0", "ip address add 169.254.169.254/32 dev eth0", "ip address add 192.0.2.1/24 dev eth0",
           "ip neigh replace 10.254.0.1 lladdr 02:00:00:00:00:99 dev eth0 && ip neigh del 10.254.0.1 dev eth0", "ip -6 address add fd00::2/64 dev eth0",
           "sysctl -q -w net.ipv4.ip_forward=1", "sysctl -q -w net.ipv6.conf.all.disable_ipv6=0")
# The gateway is the host's, and serves nothing but the way out; metadata services, private and public addresses; no name stands for any of them.
FORBIDDEN = (("10.254.0.1", 22), ("10.254.0.1", 65501), ("169.254.169.254", 80), ("10.0.0.1", 443), ("192.168.0.1", 80), ("203.0.113.254", 443))


NEEDS = {"gvisor": "/usr/lib/oyat/runsc", "microvm": "/usr/lib/oyat/kernel/vmlinuz"}


def tried_out(server, engine):
    """What the server says of an engine, once it has tried it out."""
    end = time.monotonic() + 60
    while True:
        facts = {each["name"]: each for each in server.client.api("GET", "/v1/info")["engines"]}[engine]
        if facts["available"] and (facts["kernel"] or engine == "gvisor"):  # which kernel's name it bears is known inside only
            return facts
        assert time.monotonic() < end, f"{engine} is off: {facts['reason']}"
        time.sleep(0.1)


def own_kernel_and_no_way_out(server, internet, engine):
    """G-01, V-01: a kernel that is not the host's answers, and its network leads to the proxy alone, whatever its root does to it."""
    if not pathlib.Path(NEEDS[engine]).exists():
        raise Skipped(f"{NEEDS[engine]} is not there (scripts/setup gets it where it can)")
    facts = tried_out(server, engine)
    with server.client.create(metadata={"oyat.isolation": engine}, network={"allowOut": ["a.test"], "denyOut": ["0.0.0.0/0"]}) as sandbox:
        host = pathlib.Path("/proc/sys/kernel/osrelease").read_text().strip()
        release = sandbox.run("uname -r").stdout.strip()
        assert release == (facts["kernel"] or "4.19.0-gvisor") and release != host, (release, facts["kernel"], host)
        assert sandbox.run("cat /proc/sys/kernel/random/boot_id").stdout != pathlib.Path("/proc/sys/kernel/random/boot_id").read_text()
        for user in doors.USERS:
            with doors.nothing_leaves(internet, sandbox):
                for detour in DETOURS if user == "root" else ():
                    sandbox.run(detour + " && ip route replace default via 10.254.0.1", user=user)
                outcomes = doors.knock(sandbox, [doors.a_try(address, port, b"GET / HTTP/1.0\r\n\r\n") for address, port in FORBIDDEN], user=user)
                for (address, port), outcome in zip(FORBIDDEN, outcomes):
                    assert outcome.got[:13] in (b"", b"HTTP/1.1 403 ", b"HTTP/1.1 421 "), f"{engine}, {user}: {address}:{port} answered {outcome}"


def checks(tally, server, internet):
    tally.check("J-07 V-07 V-08 what a sandbox's network is made of", is_made_of, server, internet)
    for engine in ("gvisor", "microvm"):
        tally.check(f"G-01 V-01 {engine}: another kernel, and no way out of its network", own_kernel_and_no_way_out, server, internet, engine)
