#!/bin/sh
# Make the virtual environment $1 and install geosched with its tests into it. Debian packages are installed
# only where they are missing and we may (root); otherwise the command to run is printed.
set -eu
venv=$1

need() { # need COMMAND-THAT-SUCCEEDS-IF-PRESENT DEBIAN-PACKAGE WHY required|optional
    if sh -c "$1" >/dev/null 2>&1; then return; fi
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing the Debian package $2 ($3)"
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2" >/dev/null && return
    fi
    echo "$2 is missing ($3): sudo apt-get install $2" >&2
    [ "$4" = optional ] || exit 2
}

python=
for candidate in python3 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "no Python 3.11 to 3.14 found: install one (sudo apt-get install python3)" >&2
    exit 2
fi
need "$python -c 'import ensurepip, venv'" python3-venv "virtual environments" required
need "command -v coqc" coq "checks the machine-checked proofs; their tests skip without it" optional

[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --upgrade pip
"$venv/bin/python" -m pip install --quiet --editable '.[test,solvers,report]'
