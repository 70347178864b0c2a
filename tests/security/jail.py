"""J: the doors of the jail."""
import os
import pathlib
import socket
import subprocess
import threading
import time

import kernel
from client import Refused
from guests import install, run_guest

GUESTS = ["j_01_mount", "j_02_namespaces", "j_03_userns_limit", "j_04_devices", "j_05_calls", "j_06_sockets", "j_07_netlink",
          "j_08_io_uring", "j_09_foreign_abi", "j_10_terminal", "j_11_agent", "j_12_overwrite_agent", "j_13_descriptors",
          "j_15_root", "j_16_cgroup", "j_17_proc_sys", "j_19_labels", "j_22_scheduling"]


def working_directories(sandbox):
    """J-14: a working directory that is not a directory of the sandbox starts nothing."""
    for cwd in ["/proc/self/fd/3", "/proc/self/fd/7", "/proc/1/root/..", "/proc/1/cwd", "/nowhere", "/etc/passwd", "../../..", "/dev/null",
                "/proc/1/fd/3", "/tmp/../nowhere", "a\0b"]:
        try:
            result = sandbox.run("pwd", cwd=cwd)
        except Refused:
            continue
        # Where it is accepted it must be a real place inside.
        assert result.stdout.startswith("/"), f"{cwd!r}: pwd is {result.stdout!r}"
        assert "(unreachable)" not in result.stdout, cwd
    assert sandbox.run("pwd", cwd="/tmp").stdout == "/tmp\n"


def host_names(server, sandbox):
    """J-18: nothing inside names the host: its paths, its name, other sandboxes."""
    with server.client.create() as other:
        shown = sandbox.run("cat /proc/self/mountinfo /proc/self/cgroup /proc/1/cmdline /proc/1/comm /etc/hostname /etc/hosts; hostname; env;"
                            " ls -l /proc/self/exe; dmesg 2>&1 | head -5; cat /proc/self/maps; cat /proc/cmdline", user="root").stdout
        canaries = [str(server.state), "/var/lib/oyat", "/run/oyat", other.id, "serve.lock"]
        host = socket.gethostname()
        if len(host) > 3:
            canaries.append(host)
        for canary in canaries:
            assert canary not in shown, f"{canary} is seen inside"


def ipc(server, sandbox):
    """J-21: abstract sockets, shared memory and queues are the sandbox's own."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("\0oyat-test-canary")
    listener.listen(1)
    try:
        probe = ("import socket,errno\ns=socket.socket(socket.AF_UNIX)\n"
                 "try:\n s.connect('\\0oyat-test-canary'); print('connected')\nexcept OSError as e: print(errno.errorcode[e.errno])")
        assert sandbox.run(["python3", "-c", probe], user="root").stdout == "ECONNREFUSED\n"
    finally:
        listener.close()
    with server.client.create() as peer:
        assert peer.run("ipcmk -M 4096 -p 0666 && ipcmk -Q -p 0666", user="root").exit_code == 0
        assert sandbox.run("ipcs -m | grep -c 0x; ipcs -q | grep -c 0x", user="root").stdout.split() == ["0", "0"]


def stopped_starts(server):
    """J-11: who stops programs on their way to the exec does not stop the agent with them: it goes on answering."""
    with server.client.create() as sandbox:
        stopper = sandbox.start([install(sandbox, "j_11_stop_starts")], user="root")
        assert any("data" in message["event"] for message in stopper)
        slowest = 0.0
        starts = [threading.Thread(target=quietly, args=(sandbox.run, "true")) for _ in range(8)]
        for start in starts:
            start.start()
            time.sleep(0.1)
            began = time.monotonic()
            sandbox.read("/etc/hostname")
            slowest = max(slowest, time.monotonic() - began)
        for start in starts:
            start.join()
        assert slowest < 5, f"the agent did not answer for {slowest:.1f} s"
        assert sandbox.run("echo well").stdout == "well\n"


def quietly(call, *arguments):
    try:
        call(*arguments)
    except Refused:
        pass


def dying_namespace(server):
    """J-24: commands that are started while the sandbox dies give a clean end, and leave no process on the host."""
    state_id = (server.state / "keeper" / "id").read_text().strip()
    before = kernel.sandbox_processes(state_id)
    for _ in range(20):
        sandbox = server.client.create()
        stop = threading.Event()

        def hammer():
            while not stop.is_set():
                try:
                    sandbox.run(["/bin/true"])
                except (Refused, OSError, ValueError):
                    pass
        threads = [threading.Thread(target=hammer) for _ in range(4)]
        for thread in threads:
            thread.start()
        sandbox.kill()
        stop.set()
        for thread in threads:
            thread.join(timeout=30)
    pool = kernel.sandbox_processes(state_id) - before
    # The pool refills: its processes are pid 1 of sandboxes that nobody has yet, never anything else.
    for pid in pool:
        try:
            name = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            continue
        assert "oyat" in name or name.isdigit(), f"process {pid} ({name}) was left"


def store_is_closed(server):
    """J-20: an ordinary user of the host reaches neither the store nor the templates, and both are mounted without set-uid."""
    for path in [server.state / "keeper", pathlib.Path(os.environ.get("OYAT_TEMPLATES", "/var/lib/oyat/templates"))]:
        result = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "ls", str(path)], capture_output=True)
        assert result.returncode != 0, f"{path} can be listed by nobody"
    for line in kernel.mounts(str(server.state)):
        options = line.split(" - ")[0].split()[6]
        assert "nosuid" in options and "nodev" in options, f"store mounted with {options}: {line}"


def nested_namespaces_off(sandbox):
    """J-25: nested user namespaces are off. Turning them on is not offered yet."""
    result = sandbox.run("unshare -Ur true")
    assert result.exit_code != 0


def checks(tally, server, _full):
    with server.client.create() as sandbox:
        for name in GUESTS:
            tally.check(f"{name[:4].upper().replace('_', '-')} {name[5:].replace('_', ' ')}", run_guest, sandbox, name)
        tally.check("J-14 working directories", working_directories, sandbox)
        tally.check("J-18 names of the host", host_names, server, sandbox)
        tally.check("J-20 the store is closed to others", store_is_closed, server)
        tally.check("J-21 ipc", ipc, server, sandbox)
        tally.check("J-25 nested user namespaces are off", nested_namespaces_off, sandbox)
    tally.check("J-11 stopped starts", stopped_starts, server)
    tally.check("J-24 start while dying", dying_namespace, server)
