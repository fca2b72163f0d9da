#!/bin/sh
# Runs the tests that SECURITY.md names as an ordinary user, although root calls it.
# Usage: tools/test-as-user.sh [PACKAGE …]; default: all packages that it names.
set -eu
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "call it as root: other users run the tests with make test" >&2; exit 1; }
uid=61000
root=$PWD
setpriv --reuid "$uid" --regid "$uid" --clear-groups test -r "$root/go.mod" ||
	{ echo "other users cannot read $root: move the repository out of folders that are only yours, such as /root" >&2; exit 1; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir "$out/tmp"
chown "$uid:$uid" "$out" "$out/tmp"
named=$(grep -o '`[a-z/]*\.Test[A-Za-z0-9]*`' SECURITY.md | tr -d '`' | sort -u)
failed=
for package in ${*:-$(echo "$named" | sed 's/\.Test.*//' | sort -u)}; do
	# The list of CDP commands comes from Go's module cache, which may be root's.
	tests=$(echo "$named" | sed -n "s|^$package\.||p" | grep -v TestCDPCommandsAreClassified | paste -sd '|' -)
	[ -n "$tests" ] || continue
	go test -c -o "$out/test" "./$package"
	echo "$package: $tests"
	(cd "$package" && env -i PATH="$PATH" HOME="$out/tmp" TMPDIR="$out/tmp" TAKEOVER_TEST_PROGRAM="$root/bin/takeover" \
		setpriv --reuid "$uid" --regid "$uid" --clear-groups "$out/test" -test.run "^($tests)\$" -test.timeout 10m) || failed="$failed $package"
done
[ -z "$failed" ] || { echo "failed as user $uid:$failed" >&2; exit 1; }
