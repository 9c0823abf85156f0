#!/bin/sh
# What an installed Portent has to be able to do beside the documents' examples, on a machine that has the packages and what they depend on.
#
# usage: cd EMPTY-FOLDER && sh use.sh
#
# Exit status: 0 all of it works; otherwise the last line says what did not.
set -u
passed=0
expect() { # STATUS WORDS COMMAND...
    status=$1 words=$2
    shift 2
    "$@" >out 2>&1
    got=$?
    if [ $got -ne "$status" ] || { [ -n "$words" ] && ! grep -q -e "$words" out; }; then
        cat out
        echo "expected status $status and '$words', got $got: $*"
        exit 1
    fi
    passed=$((passed + 1))
}

examples=/usr/share/doc/portent/examples
cp "$examples/race/race.c" "$examples/water/water.c" "$examples/water/water.prop" "$examples/atomic/store.cc" .

# The compiler: C, C++, static, position independent or not, with link-time optimisation.
for options in "" -O2 -static "-no-pie -O1" "-static-pie -O2"; do
    expect 0 "" portent cc $options -pthread race.c -o race
    expect 66 "Data race on hits" portent run -- ./race
done
expect 0 "" portent c++ -O2 -pthread store.cc -o store
cat >hello.cc <<'X'
#include <iostream>
#include <thread>
int n;
int main() { std::thread t([] { n++; }); n++; t.join(); std::cout << n << '\n'; }
X
expect 0 "" portent c++ -pthread hello.cc -o hello
expect 66 "Data race on n" portent run -- ./hello

# By itself, without portent run.
expect 66 "data race" env PORTENT_OPTIONS=races=1 ./hello
expect 0 "" portent cc -O2 -pthread water.c -o water
expect 66 "predicted violation of 'valve'" portent run -s water.prop -r r.json -o w.ptb -- ./water
expect 1 "predicted" portent check -s water.prop w.ptb

# Several processes, where portent-mpi is installed too.
expect 1 "predicted" mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 portent check -s water.prop w.ptb

# Libraries that are opened when they are needed: libdw (names), libxml2 (nets), libmicrohttpd (watch).
cat >net.pnml <<'X'
<?xml version="1.0"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
<place id="a"><initialMarking><text>1</text></initialMarking></place><place id="b"/><transition id="t"/>
<arc id="x" source="a" target="t"/><arc id="y" source="t" target="b"/></page></net></pnml>
X
expect 1 "deadlock" portent model --deadlock --net net.pnml
expect 0 "html" portent report --html r.json
for format in sarif junit gitlab markdown perfetto shiviz gdb; do
    expect 0 "." portent report --$format r.json
done
cat >block.c <<'X'
#include <portent.h>
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int n;
void *add(void *p)
{
    portent_begin("add");
    pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m);
    portent_end("add");
    return p;
}
int main(void) { pthread_t a, b; pthread_create(&a, 0, add, 0); pthread_create(&b, 0, add, 0); pthread_join(a, 0); pthread_join(b, 0); return 0; }
X
expect 1 "not causally atomic" portent model block.c

# The shared runtime, before a program that was not compiled for it.
expect 0 "" clang-14 -pthread race.c -o plain
expect 0 "" portent run --preload --lenient -o plain.trace -- ./plain

# Other schedules, and all of it at once.
expect 1 "data race on hits" portent explore -n 20 -o race.schedule -- ./race
expect 66 "finding" portent ci --budget 20s -- ./race
for file in result.json report.html portent.sarif portent.xml gitlab.json summary.md; do
    expect 0 "." cat portent-ci/$file
done

# What other build systems find.
expect 0 "0.1" portent --version
expect 0 "portent" ls /usr/share/man/man1/portent-ci.1.gz /usr/share/man/man7/portent.7.gz
expect 0 "prefix" cat /usr/share/pkgconfig/portent.pc
expect 0 "complete" cat /usr/share/bash-completion/completions/portent
echo "use: $passed passed, 0 failed"
