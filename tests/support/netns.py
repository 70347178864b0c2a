"""Namespaces of a test: made for it, joined by a cable, gone with the process that made them."""
import contextlib
import ctypes
import os
import subprocess
import sys
import threading

_libc = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000


def _setns(descriptor):
    if _libc.setns(descriptor, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "enter a network namespace")


def run_in_own_namespace():
    """Starts this program again in a network namespace of its own, with nothing but a loopback device, and a mount namespace, so that
    it can show other files in place of the machine's; unless it is in them already. Returns the network namespace that it came from."""
    home = os.environ.pop("OYAT_TEST_HOME_NETNS", None)
    if home is not None:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        os.set_inheritable(int(home), False)
        return Namespace(int(home))
    descriptor = os.open("/proc/self/ns/net", os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    os.execvpe("unshare", ["unshare", "--net", "--mount", "--", sys.executable, *sys.argv], {**os.environ, "OYAT_TEST_HOME_NETNS": str(descriptor)})


def _make():
    """A descriptor of a new namespace. A thread that moves is enough to make one; the descriptor keeps it when the thread has ended."""
    made = []

    def move():
        if _libc.unshare(_CLONE_NEWNET) == 0:
            made.append(os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC))
    maker = threading.Thread(target=move)
    maker.start()
    maker.join()
    if not made:
        raise OSError("a network namespace could not be made")
    return made[0]


class Namespace:
    """Another network namespace. It lives as long as this object, without a process of its own."""

    def __init__(self, descriptor=None):
        self.descriptor = _make() if descriptor is None else descriptor

    @contextlib.contextmanager
    def entered(self):
        """Sockets that this thread makes in here belong to the namespace, for good."""
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _setns(self.descriptor)
            try:
                yield
            finally:
                _setns(home)
        finally:
            os.close(home)

    def run(self, *command):
        with self.entered():
            subprocess.run(command, check=True)

    def cable(self, here, there):
        """A cable from the caller's namespace (device `here`) into this one (device `there`)."""
        path = f"/proc/{os.getpid()}/fd/{self.descriptor}"
        subprocess.run(["ip", "link", "add", here, "type", "veth", "peer", "name", there, "netns", path], check=True)

    def close(self):
        os.close(self.descriptor)
