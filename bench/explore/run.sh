#!/bin/sh
# What a scheduling point and a controlled run cost, without the tool: tests/explore/drive.c plays it. The aims: at most 5 us per
# point, at least 200 runs/s of 4 threads with 1,000 points. FIRST switches only where it must, RANDOM at three points of four.
# usage: bench/explore/run.sh BUILD
set -e
build=${1:-build}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
here=$(dirname "$0")
"$build/bin/portent" cc -O2 -g "$here/points.c" -o "$out/points" -lpthread
"$build/bin/portent" cc -O2 -g -I"$here/../../include" "$here/../../tests/explore/runtime/body.c" -o "$out/body" -lpthread
pins=16
logs=17
for strategy in first random pct; do
    echo "== $strategy: 4 threads, 1,000 points"
    "$build/tests/explore_drive" -q -n 300 -s $strategy -d 3 -w $pins "$out/points" 4 1000
    echo "== $strategy: 4 threads, 100,000 points, steps written"
    "$build/tests/explore_drive" -q -n 5 -s $strategy -d 3 -w $logs "$out/points" 4 100000
done
echo "== a function repeated in one process, 2 threads"
"$build/tests/explore_drive" -q -n 5000 -s random -w $pins "$out/body"
