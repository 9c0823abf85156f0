#!/usr/bin/env bash
# Runs every benchmark and prints its ratios. Takes some minutes; FORMULAS=FILE adds the table of LTL formulas.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=build/bench
events=${EVENTS:-5000000}
formulas=${FORMULAS:-../shared/ltl/formulas.tsv}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '\n== %s\n' "$*"; }

say "reading and ordering a trace of $events events, 1 in 50 relevant (aims: 5 million/s text; binary, decoded on a second core, 30 million/s elapsed)"
"$bin/gen_trace" --threads 8 --events "$events" --vars 1000 --seed 1 --relevant-percent 2 > "$work/t.trace"
"$bin/gen_trace" --threads 8 --events "$events" --vars 1000 --seed 1 --relevant-percent 2 --binary > "$work/t.ptb"
for file in t.trace t.ptb; do
  printf '%s, read:               ' "$file"; "$bin/trace_speed" "$work/$file"
  printf '%s, validated, ordered: ' "$file"; "$bin/trace_speed" --validate --order "$work/$file"
done

say "races of a trace without races in which 4 of 10 events lock or unlock, beside plain reading of it (aims: 20, 8, 4 million/s)"
for threads in 8 128 512; do
  "$bin/gen_trace" --threads "$threads" --events "$events" --vars 1000 --seed 1 --relevant-percent 2 --locked --binary > "$work/l.ptb"
  printf '%s threads, read:  ' "$threads"; "$bin/trace_speed" "$work/l.ptb"
  printf '%s threads, races: ' "$threads"; "$bin/trace_speed" --races "$work/l.ptb"
done

say "predictions: 8 threads without races; 16 threads with 960 lock-order patterns (aims: sync 5, deadlocks 10 million/s and 1 s for 1,000 patterns)"
"$bin/gen_trace" --threads 8 --events "$events" --vars 1000 --seed 1 --relevant-percent 2 --locked --binary > "$work/l.ptb"
"$bin/predict" "$work/l.ptb"
for shape in flag sections ring pairs hot readers nested barrier long reads; do
  "$bin/shapes" "$shape" --threads 8 --events 2000000 --vars 1000 --seed 1 > "$work/s.ptb"
  printf '%s (aim: sync 5 million/s)\n' "$shape"; "$bin/predict" "$work/s.ptb" sync
done
"$bin/gen_trace" --threads 8 --events 1000000 --vars 1000 --seed 1 --relevant-percent 2 --binary > "$work/r.ptb"
printf 'every variable races (aim: sync 5 million/s)\n'; "$bin/predict" "$work/r.ptb" sync values
"$bin/gen_trace" --threads 16 --events "$events" --vars 1000 --seed 1 --relevant-percent 2 --locked --nested --binary > "$work/n.ptb"
"$bin/predict" "$work/n.ptb" deadlocks

say "the full lattice of 4 threads x 60 writes"
"$bin/lattice" full | grep -v '^  '
"$bin/lattice" jobs | grep RATE

say "cache lines that jobs take from each other, for each state (aims: 0.1, and 0.001 where workers share by design)"
bench/sharing/run.py build

say "the cone: window 64, lookahead 256, 8 threads"
"$bin/lattice" cone "${CONE_EVENTS:-1000000}"

say "the cone by threads (aims: 500,000 events/s with 8, 200,000 with 64)"
"$bin/lattice" threads | grep RATE

say "the cone of one property (aim: two jobs 1.8 times as fast as one)"
"$bin/lattice" relay | grep RATE

say "the cones of four properties (aim: two jobs 1.8 times as fast as one)"
"$bin/lattice" properties | grep RATE

say "threads that come and go (aim: linear)"
bench/come_and_go.py "$bin/../bin/portent"

say "long traces, streaming (aims: 1 GB whatever their length; a picture from the middle at once)"
bench/long.py build "${LONG_EVENTS:-20000000}"

if command -v mpirun > /dev/null && [ -x build/libexec/portent/portent-mpi ]; then
  say "ranks of mpirun (aim: two at least 0.8 times as fast as two jobs)"
  bench/mpi.py build/bin/portent
fi

say "steps of a 'within' property from memory (aim: 50 million events/s)"
"$bin/within"

say "a step of a decentralised property (aims: 30 ns for an own event, 60 ns for news)"
"$bin/mttl_step"

say "start of a command (aim: 2 ms)"
bench/start.py build/bin/portent

say "portent model: text to verdicts, processor time (at most, aim)"
"$bin/model"

say "portent model of C programs of some thousand lines (aims: 80 threads 0.1 s, 300 1 s)"
bench/model_c.py build/bin/portent

say "unfolding of nets: processor time for each history of an event as nets grow (aim: near constant)"
"$bin/nets"

say "an object by portent cc beside clang (CPU time; limit 1.5x at -O2, aim 1.2x)"
bench/compile.py --portent build/bin/portent

say "the event stream (aims: 2 million events/s without loss; a stopped reader at most 1.1x an absent one)"
bench/watch/run.py build

say "many programs and one watcher on two cores (aim: 200 at 10,000 events/s each, nothing lost)"
bench/watch/fleet.py build/bin/portent

say "relevant events from a program to its observer (aims: 2 million/s from 2 threads, 500,000 from 8, 200,000 from 64)"
bench/overhead/run.py --portent build/bin/portent --only-events

say "Büchi automata of parametric families up to n = 20 (aims: 2 s each, and sizes that grow with n, but for 'ul', which has to have 2^(n-1) states)"
"$bin/buchi" families
"$bin/buchi" random

if [ -r "$formulas" ]; then
  say "Büchi automata of $(basename "$formulas")"
  "$bin/buchi" "$formulas" | tail -n 12
fi
