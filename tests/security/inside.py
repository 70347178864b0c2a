"""Lines of the catalogue that need a taken-over agent, a bad archive or another machine: shown by tests of the rooms themselves, which
hold one end of the wire. Run here from the same build, so that no line is looked for in vain."""
import json
import os
import pathlib
import re
import subprocess
import tempfile

from server import BUILD, ROOT
from tally import Skipped

# check: (program, GoogleTest filter)
TESTS = {
    "J-23 a root that would be read-only": ("layers_test", "StagingTest.ARootThatWouldBeReadOnlyIsAnError"),
    "J-26 hosts of each kind of control groups": ("cgroup_test", "Hierarchies.*:*WithoutControllersTheMechanismsSayWhichLimitIsMissing*"),
    "D-20 D-21 D-22 D-23 D-24 D-25 D-26 D-27 D-28 D-29 D-30 a hostile agent": ("keeperlink_test", "HostileAgent.*"),
    "F-07 hostile archives": ("layers_test", "ArchiveRules.*:TemplatesTest.HostileArchivesAreRefusedWhole"),
}


def passes(program, pattern):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        run = subprocess.run([str(BUILD / "bin" / program), f"--gtest_filter={pattern}", f"--gtest_output=json:{report}"],
                             capture_output=True, text=True, env={**os.environ, "GTEST_COLOR": "no"})
        assert report.exists(), run.stderr[-2000:]
        counts = json.loads(report.read_text())
    ran = [test for suite in counts["testsuites"] for test in suite["testsuite"] if test["status"] == "RUN" and test["result"] == "COMPLETED"]
    assert len(ran) >= len(pattern.split(":")), f"only {len(ran)} tests ran"
    assert run.returncode == 0, run.stdout[-2000:]


def vocabulary():
    """D-10: what oyatd may say to the keeper in words of its own are ids, digests and names; no rule, path, command or address."""
    text = "".join(file.read_text() for file in sorted((ROOT / "src" / "wire").glob("keeper_*.hpp")))
    bodies = dict(re.findall(r"^struct (\w+) \{(.*?)^\};", text, re.MULTILINE | re.DOTALL))
    orders = re.findall(r"std::optional<(\w+)> \w+;", bodies["KeeperRequest"])
    assert len(orders) > 10, orders
    words = {word for order in orders for word in re.findall(r"(?:std::string|std::vector<std::string>) (\w+)", bodies[order])}
    assert words and words <= {"id", "ids", "after", "name", "digest", "template_digest", "engine", "owner_tag", "snapshot", "from_snapshot"}, words


def host_mounts():
    raise Skipped("this release has no mounts of host directories, so none can be asked for")


def checks(tally, _server, _full):
    for name, (program, pattern) in TESTS.items():
        tally.check(name, passes, program, pattern)
    tally.check("D-10 words of the keeper", vocabulary)
    tally.check("D-04 declared host mounts", host_mounts)
