#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A newcomer's three minutes: install a release, open a capture, see what its kernel waits for, ask Python and an agent's door for the
# same figure, and fail a CI gate on a kernel that got slower.
#
# usage: three_minutes.sh RELEASE CAPTURES [FOLDER]
#
#   RELEASE   the files of a release: SHA256SUMS, packages, the static program, the wheel
#   CAPTURES  padded.incore, padded_again.incore and conflicts.incore (tests/data/samples_pair): PC samples of a kernel on an H200, the
#             third after a change that lets threads collide in the banks of shared memory
#   FOLDER    install there without being root: the static program, and the wheel in an environment of its own. Without it: the
#             Debian packages, with apt-get.
#
# Every command is shown before it runs. Figures that should be equal are compared: any difference ends the script with status 1.
set -eu
[ $# -ge 2 ] || { sed -n '/^# usage/,/^#$/s/^# //p' "$0" >&2; exit 2; }
release=$(cd "$1" && pwd) captures=$(cd "$2" && pwd) python=python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
exec 3>&1 # commands are shown, whoever reads their output

say() { printf '\n# %s\n' "$*"; }
show() { printf '$ %s\n' "$*" >&3; "$@"; }
same() { # WHAT ONE OTHER
	[ -n "$2" ] && [ "$2" = "$3" ] || { printf 'three_minutes: %s differs:\n%s\n%s\n' "$1" "$2" "$3" >&2; exit 1; }
	printf '= %s\n' "$2"
}

say 'Install: are the files what was released, then one command'
(cd "$release" && show sha256sum --check --quiet SHA256SUMS)
if [ $# -gt 2 ]; then
	mkdir -p "$3/bin"
	show cp "$release"/incore-*-linux-x86_64 "$3/bin/incore"
	show python3 -m venv "$3/python"
	show "$3/python/bin/pip" install --quiet --disable-pip-version-check --no-index "$release"/incore-*.whl
	PATH=$(cd "$3" && pwd)/bin:$PATH python=$(cd "$3" && pwd)/python/bin/python
else
	show apt-get install -qq -y --no-install-recommends "$release"/incore_*.deb "$release"/libincore0_*.deb "$release"/python3-incore_*.deb
fi
show incore --version

say 'Open a capture: which instruction is waiting, and for what'
cd "$captures"
show incore summary conflicts.incore | head -3

say 'The same from Python, and the cycles of the costliest line'
json() { "$python" -c "import json, sys; d = json.load(sys.stdin); print($1)"; }
from_shell=$(incore summary -q --json conflicts.incore | json "d['data']['verdict']"
	incore hot -q --by line --json conflicts.incore | json "d['data']['groups'][0]['cycles']")
from_python=$(show "$python" -c 'import incore
capture = incore.open("conflicts.incore")
print(capture.summary().verdict)
print(capture.hot(by="line").groups["cycles"][0])')
same 'what Python says' "$from_shell" "$from_python"

say 'The same as an agent asks for it: JSON-RPC, a line a message'
call() { # TOOL ARGUMENTS
	printf '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "%s", "arguments": %s}}\n' "$1" "$2" > "$work/request"
	printf '$ echo '"'%s'"' | incore mcp .\n' "$(cat "$work/request")" >&3
	incore mcp . < "$work/request"
}
from_agent=$(call summary '{"path": "conflicts.incore"}' | json "d['result']['structuredContent']['values']['verdict']"
	call hot '{"path": "conflicts.incore", "by": "line", "tables": ["groups"], "limit": 1}' |
		json "(lambda t: t['rows'][0][t['columns'].index('cycles')])(d['result']['structuredContent']['tables']['groups'])")
same 'what an agent is told' "$from_shell" "$from_agent"

say 'A gate for CI: the same kernel again passes, the slower one fails'
gate() { # BEFORE AFTER: its exit status
	show incore diff --noise padded_again.incore --gate 'latency_per_launch<+5%' --junit "$work/gate.xml" --sarif "$work/gate.sarif" \
		"$1" "$2" > "$work/gate.txt" && status=0 || status=$?
	tail -n 1 "$work/gate.txt"
}
gate padded.incore padded_again.incore
same 'exit status of the gate' 0 "$status"
gate padded.incore conflicts.incore
same 'exit status of the gate' 1 "$status"
same 'failures in the JUnit file' 1 "$(grep -c '<failure' "$work/gate.xml")"
json "*(r['message']['text'].split('. From')[0] for r in d['runs'][0]['results'])" < "$work/gate.sarif"

say 'incore view CAPTURE opens it in a browser; incore help lists the rest.'
