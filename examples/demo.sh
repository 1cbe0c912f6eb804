#!/bin/sh
# The main job on two files of this repository: audit a request log, then certify an exact ratio and check it.
set -eu
geosched=$1
folder=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

run() {
    echo
    echo "\$ geosched $*"
    "$geosched" "$@"
}

run audit "$folder/chat_trace.csv" --memory 20000 --max-peak 0.5
run ratio "$folder/burst.json" --policy svf --certificate "$scratch/svf.json"
run check "$scratch/svf.json"
