"""PostgreSQL by name: a protocol in which the name is never said, and the server is a real one."""
import contextlib
import pathlib
import subprocess
import time

from purposes import DATABASE
from tally import Skipped

PROGRAMS = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"))


@contextlib.contextmanager
def postgres(internet):
    """A server of its own at the database's address."""
    if not PROGRAMS:
        raise Skipped("this machine has no PostgreSQL server (Debian: postgresql)")
    folder, programs = internet.folder / "postgres", PROGRAMS[-1].parent
    folder.mkdir()
    folder.chmod(0o777)
    as_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
    subprocess.run([*as_user, str(programs / "initdb"), "--auth=trust", "--username=agent", str(folder / "data")], check=True, capture_output=True)
    with open(folder / "log", "wb") as log, internet.namespace.entered():
        server = subprocess.Popen([*as_user, str(programs / "postgres"), "-D", str(folder / "data"), "-h", DATABASE, "-k", str(folder), "-F"],
                                  stdout=log, stderr=log)
    try:
        (folder / "data").chmod(0o700)
        end = time.monotonic() + 20
        while b"ready to accept connections" not in (folder / "log").read_bytes():
            assert server.poll() is None and time.monotonic() < end, (folder / "log").read_text()
            time.sleep(0.05)
        yield
    finally:
        server.terminate()
        server.wait(timeout=20)


def by_name(server, internet, workplace):
    with postgres(internet):
        pg_hba = internet.folder / "postgres" / "data" / "pg_hba.conf"
        pg_hba.write_text("host all all all trust\n")
        subprocess.run(["pkill", "-HUP", "--pidfile", str(pg_hba.parent / "postmaster.pid")], check=True)
        result = workplace.run("psql --no-psqlrc --tuples-only --host db.test --username agent postgres -c 'select 6 * 7'")
        assert result.stdout.strip() == "42", result.stderr
        result = workplace.run(f"PGCONNECT_TIMEOUT=5 psql --no-psqlrc --host c.test --username agent postgres -c 'select 1'")
        assert result.exit_code != 0


def checks(tally, server, internet, workplace, _purposes):
    tally.check("PostgreSQL by name", by_name, server, internet, workplace)
