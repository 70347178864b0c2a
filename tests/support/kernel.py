"""The kernel's own lists, to see that nothing of a server is left: mounts, cgroups, namespaces, loop devices, processes."""
import os
import pathlib


def mounts(mark):
    """Mount lines of all processes' namespaces that carry `mark`."""
    found = set()
    seen = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            namespace = os.readlink(f"/proc/{pid}/ns/mnt")
            if namespace in seen:
                continue
            seen.add(namespace)
            for line in pathlib.Path(f"/proc/{pid}/mountinfo").read_text().splitlines():
                if mark in line:
                    found.add(f"{namespace} {line}")
        except OSError:
            continue
    return found


def cgroups(mark):
    """Paths of control groups below any hierarchy whose name carries `mark`."""
    found = set()
    for root, folders, _ in os.walk("/sys/fs/cgroup"):
        for folder in folders:
            if mark in folder:
                found.add(os.path.join(root, folder))
    return found


def net_namespaces():
    """Network namespaces that some process lives in."""
    return namespaces("net")


def namespaces(kind):
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found.add(os.readlink(f"/proc/{pid}/ns/{kind}"))
        except OSError:
            continue
    return found


def sandbox_processes(state_id=""):
    """Host pids of processes whose real user id is in the range that oyat hands out; of one server only, if its id is given."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("Uid:") and 0x70000000 <= int(line.split()[1]) < 0x7FFF0000:
                    if f"oyat-{state_id}" in pathlib.Path(f"/proc/{pid}/cgroup").read_text():
                        found.add(int(pid))
        except OSError:
            continue
    return found


def loop_devices(mark):
    """Loop devices whose backing file's path carries `mark`."""
    found = set()
    for device in pathlib.Path("/sys/block").glob("loop*"):
        try:
            backing = (device / "loop" / "backing_file").read_text().strip()
        except OSError:
            continue
        if mark in backing:
            found.add(f"{device.name} {backing}")
    return found


def descriptors(pid):
    """Targets of the open descriptors of a process."""
    found = []
    for entry in os.listdir(f"/proc/{pid}/fd"):
        try:
            found.append(os.readlink(f"/proc/{pid}/fd/{entry}"))
        except OSError:
            continue
    return found
