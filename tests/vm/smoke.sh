# Runs inside the emulated machine as root: installs the package, uses it, breaks it, removes it. Time-outs are long, because
# everything takes ten to forty times as long in there.
. ./checks.sh

# What the machine has before: afterwards it has the same.
inventory() {
    grep -c . /proc/mounts
    find /sys/fs/cgroup -type d -name '*oyat*' ! -name 'oyat-test.service'
    losetup -a
    lsns -t net -n -o NS | wc -l
    find / -xdev \( -path /proc -o -path /results -o -path /payload \) -prune -o -name '*oyat*' -print |
        grep -v -e oyattest -e oyat-test -e /var/lib/apt -e /var/cache -e /var/log -e '^/payload'
    getent passwd oyat
    getent group oyat
    pgrep -a oyat
}
inventory >/results/before 2>/dev/null

# --- installation
install_package() { DEBIAN_FRONTEND=noninteractive apt-get install -y ./oyat_*.deb; }
check "apt-get installs the package and is content with its dependencies" install_package
[ "$failures" = 0 ] || exit 1
check "nothing runs before it is started" fails systemctl is-active oyat
sed -i 's/^# processes = 1024$/processes = 48/' /etc/oyat/oyat.toml
started() { timeout 300 systemctl start oyat; }
check "systemctl start oyat" started
check "it is up and answers" oyat status
if ! within 60 oyat status >/dev/null 2>&1; then
    systemctl --no-pager status oyat oyat-keeper oyat-sandboxes
    exit 1
fi
oyat status
oyat --json status >/results/status.json
check "the keeper uses control groups v2" grep -q '"cgroup":"v2"' /results/status.json
check "oyatd runs as its own user" says oyat ps -o user= -p "$(pid_of oyat)"
check "oyatd has no capability" says 'CapEff:	0000000000000000' grep CapEff "/proc/$(pid_of oyat)/status"
check "a small template is imported as base" oyat template import small.tar --name base
check "it is listed" says base oyat template ls

# --- one sandbox
id=$(oyat create --timeout 2h --memory 64MiB --disk 32MiB 2>/results/create-error)
cat /results/create-error
check "a sandbox is created" test -n "$id"
check "a command's output comes back" says 42 oyat exec "$id" -- sh -c 'echo $((6 * 7))'
[ "$failures" = 0 ] || exit 1
check "and its exit code" ends_with 7 oyat exec "$id" -- sh -c 'exit 7'
check "commands run as the template's user" says uid=1000 oyat exec "$id" -- id
check "root inside is not root outside" says 'uid=0(root)' oyat exec --user root "$id" -- id
head -c 300000 /dev/urandom >/results/sent
check "a file goes in" oyat cp /results/sent "$id:/home/user/file"
check "and comes out as it was" sh -c "oyat cp '$id:/home/user/file' /results/back && cmp /results/sent /results/back"
rm -f /results/sent /results/back
check "the host's files are not there" fails oyat exec --user root "$id" -- ls /payload /var/lib/oyat
check "root inside may not mount" fails oyat exec --user root "$id" -- mount -t tmpfs none /tmp

# --- limits
check "a command that wants more memory than the limit is killed" \
    fails oyat exec "$id" -- dd if=/dev/zero of=/dev/null bs=200M count=1
check "the sandbox answers afterwards" says alive oyat exec "$id" -- echo alive
check "processes end at their limit" fails oyat exec "$id" -- \
    sh -c 'i=0; while [ $i -lt 100 ]; do sleep 900 >/dev/null 2>&1 & i=$((i + 1)); done'
check "the sandbox answers after that, too" within 120 says alive oyat exec "$id" -- echo alive
oyat exec --user root "$id" -- killall -9 sleep
check "the disk ends at its limit" fails oyat exec "$id" -- dd if=/dev/zero of=/tmp/big bs=1M count=64
check "space comes back" oyat exec "$id" -- rm -f /tmp/big
check "a command ends at its wall time" ends_with 124 oyat exec --wall 3s "$id" -- sleep 600

# --- network
asks() { timeout 200 oyat exec "$id" -- sh -c "printf 'GET / HTTP/1.0\r\n\r\n' | nc -w 60 $1 $2 | grep HTTP"; }
check "nothing comes from the metadata address" ends_with 1 asks 169.254.169.254 80
check "the host's loopback is not the sandbox's" ends_with 1 asks 127.0.0.1 3000
check "there is no interface but lo" says 'interfaces=1.' oyat exec "$id" -- sh -c 'echo interfaces=`grep -c : /proc/net/dev`.'

# --- death of the daemons, with a command that runs on
oyat exec "$id" -- sh -c 'i=0; while :; do i=$((i + 1)); echo $i >/tmp/count; sleep 1; done' >/dev/null 2>&1 &
counts() { oyat exec "$id" -- cat /tmp/count; }
check "a long command runs" within 60 counts
goes_on() {
    first=$(counts) && sleep 5 && second=$(counts) && echo "$first, then $second" && [ "$second" -gt "$first" ]
}
killed() {
    old=$(pid_of "$1")
    kill -9 "$old"
    within 120 sh -c "p=\$(systemctl show -p MainPID --value $1); [ \$p != 0 ] && [ \$p != $old ]" && within 120 oyat status
}
check "kill -9 of oyatd: systemd brings it back" killed oyat.service
check "the sandbox's command goes on" within 60 goes_on
check "kill -9 of the keeper: systemd brings it back" killed oyat-keeper.service
check "the sandbox's command goes on" within 60 goes_on
kill -9 "$(pid_of oyat.service)" "$(pid_of oyat-keeper.service)"
check "kill -9 of both: both come back" within 180 oyat status
check "the sandbox's command goes on" within 60 goes_on
check "systemctl restart oyat-keeper" systemctl restart oyat-keeper
check "the sandbox's command goes on" within 120 goes_on
check "systemctl stop oyat" systemctl stop oyat
check "systemctl start oyat" systemctl start oyat
check "the sandbox's command goes on" within 60 goes_on
check "a new sandbox can be created" says fresh timeout 200 oyat run -- echo fresh
reinstall_package() { DEBIAN_FRONTEND=noninteractive apt-get install -y --reinstall ./oyat_*.deb; }
check "an upgrade of the package" reinstall_package
check "keeps the operator's configuration" grep -q '^processes = 48$' /etc/oyat/oyat.toml
check "and the sandbox's command goes on" within 120 goes_on

# --- the record
check "the record's chains are whole" oyat audit verify
oyat audit show "$id" >/results/audit.txt
check "it knows the command that was killed for its memory" grep -q 'limit.hit.*limit=memory' /results/audit.txt
check "and the refused connection" grep -q 'connect.denied.*169\.254\.169\.254' /results/audit.txt

# --- the end
check "a sandbox is ended" oyat kill "$id"
left=$(oyat create --timeout 2h)
check "another one lives when the package is removed" says "$left" oyat ls -q
check "apt-get remove" apt-get remove -y oyat
check "no process of ours is left" fails pgrep -x 'oyatd|oyat-keeper|oyat-agent'
check "the configuration stays until the purge" test -e /etc/oyat/oyat.toml
check "apt-get purge" apt-get purge -y oyat
sleep 2
inventory >/results/after 2>/dev/null
check "files, mounts, groups, namespaces, loop devices and users are as before" diff /results/before /results/after
check "no unit failed" says '0 loaded units' systemctl --failed

[ "$failures" = 0 ]
