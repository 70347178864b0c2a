"""J-07, V-07, V-08: what the network of a sandbox is made of, seen from inside: no interface, listener or socket but the few that the way out needs, and no
way to make another. G and V ask for the same of other engines; this release has none, and says so."""
import json

import doors
from client import Refused

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


def engines(server, _internet):
    """G-01..09, V-01..15: the suite has run on every engine that there is; a sandbox of another one is refused, not made by this one."""
    there = {engine["name"]: engine["available"] for engine in server.client.api("GET", "/v1/info")["engines"]}
    assert [name for name, available in there.items() if available] == ["jail"], there
    for name in there.keys() - {"jail"}:
        try:
            made = server.client.api("POST", "/v1/sandboxes", {"template": "base", "isolation": name})
        except Refused as refused:
            assert refused.status == 501, refused
            continue
        raise AssertionError(f"{name} gave {json.dumps(made)[:200]}")


def checks(tally, server, internet):
    tally.check("J-07 V-07 V-08 what a sandbox's network is made of", is_made_of, server, internet)
    tally.check("G-01 V-01 engines that there are not", engines, server, internet)
