#!/usr/bin/env python3
"""Measures the event stream: what goes through without loss, and what readers cost the program.

    bench/watch/run.py BUILD [--seconds S] [--rounds N]

The reader (bench/watch_reader.c) decodes and steps one `within` property. Slowdowns are ratios of the shortest times of N rounds in
which all variants take turns: `plain` without the runtime, `off` with it and without events=, then nobody connected, a reader that
keeps up if it can, and one that is stopped. CPU time is the program's, its sender included; a busy machine disturbs it less.
"""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def build(folder, library):
    command = ["gcc", "-O2", "-D_GNU_SOURCE", "-I", ROOT / "include", HERE / "program.c", "-lpthread"]
    subprocess.run([*command, "-o", folder / "plain"], check=True)
    subprocess.run([*command, "-o", folder / "watched", "-L", library, "-lportent-rt", f"-Wl,-rpath,{library}"], check=True)


class Bench:
    def __init__(self, folder, bin_folder):
        self.folder, self.reader_file = folder, bin_folder / "watch_reader"

    def start(self, *arguments, plain=False, stream=True):
        environment = {**os.environ, "PORTENT_OPTIONS": f"events=unix:{self.folder}/s"}
        if not stream:
            del environment["PORTENT_OPTIONS"]
        process = subprocess.Popen([self.folder / ("plain" if plain else "watched"), *map(str, arguments)], env=environment,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process.stdout.readline()
        return process

    def reader(self):
        process = subprocess.Popen([self.reader_file, self.folder / "s"], stdout=subprocess.PIPE, text=True)
        process.stdout.readline()
        return process

    @staticmethod
    def finish(process):
        """Seconds, and CPU seconds."""
        return [float(word) for word in process.communicate("\n", timeout=600)[0].split()]

    def paced(self, rate, seconds):
        """Events and losses of a paced run, the rate at which they really came, CPU seconds of the reader."""
        program = self.start("pace", rate, seconds)
        reader = self.reader()
        self.finish(program)
        events, lost, span, cpu, verdict = reader.communicate(timeout=600)[0].split()
        if verdict != "0":
            sys.exit("the property does not hold")
        return int(events), int(lost), int(events) / max(float(span), 1e-9), float(cpu)

    def slowdown(self, mode, count, rounds):
        times = {name: [] for name in ("plain", "off", "absent", "fast", "stopped")}
        for _ in range(rounds):
            for name, taken in times.items():
                program = self.start(mode, count, plain=name == "plain", stream=name not in ("plain", "off"))
                reader = self.reader() if name in ("fast", "stopped") else None
                if name == "stopped":
                    reader.send_signal(signal.SIGSTOP)
                taken.append(self.finish(program))
                if reader:
                    reader.send_signal(signal.SIGCONT)
                    reader.communicate(timeout=600)
        for index, what in enumerate(("time", "CPU time")):
            best = {name: min(pair[index] for pair in taken) for name, taken in times.items()}
            ratios = "  ".join(f"{name} {best[name] / best['plain']:.2f}" for name in times)
            print(f"{mode}, {what}: {ratios}; stopped to absent {best['stopped'] / best['absent']:.3f} (aim: at most 1.1)",
                  flush=True)


def main():
    parser = argparse.ArgumentParser(description="Measures the event stream.")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(pathlib.Path(name), options.build.resolve() / "bench")
        build(bench.folder, options.build.resolve() / "lib")
        highest, rate = 0, 2000000
        for rate in (2000000, 3000000, 4000000, 6000000, 8000000, 12000000, 16000000):
            events, lost, real, cpu = bench.paced(rate, options.seconds)
            print(f"offered {rate / 1e6:.0f}M events/s from two threads: {events} came at {real / 1e6:.2f}M/s, {lost} lost, "
                  f"reader {1e9 * cpu / max(events, 1):.0f} ns an event", flush=True)
            if lost:
                break
            highest = max(highest, real)
        print(f"highest rate without loss: {highest / 1e6:.2f}M events/s (aim: 2M)", flush=True)
        bench.slowdown("work", 300000, options.rounds)
        bench.slowdown("locks", 3000000, options.rounds)


if __name__ == "__main__":
    main()
