"""rr (https://rr-project.org) on this machine: as it is, or with a stand-in for the counter that it needs (rr_counter.c)."""
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


class Rr:
    """`why` says why it cannot be used, None: it can; `stand_in`: whether with a counter that is none. Recordings go to `folder`."""

    def __init__(self, folder):
        self.environment, self.stand_in, self.why = {"_RR_TRACE_DIR": os.path.join(folder, "rr")}, False, "there is no rr"
        if not shutil.which("rr"):
            return
        self.why = self.try_out()
        if self.why is None:
            return
        library = os.path.join(folder, "rr_counter.so")
        built = subprocess.run(["cc", "-O1", "-D_GNU_SOURCE", "-shared", "-fPIC", os.path.join(HERE, "rr_counter.c"), "-o", library, "-ldl"],
                               capture_output=True, check=False)
        if built.returncode == 0:
            self.stand_in = True
            self.environment["LD_PRELOAD"] = library
            self.why = self.try_out()

    def try_out(self):
        done = self.run(self.recording(["true"]), 60)
        if done.returncode == 0:
            done = self.run(["rr", "replay", "-a"], 60)
        self.forget()
        return None if done.returncode == 0 else (done.stderr.splitlines() or [f"status {done.returncode}"])[0]

    def recording(self, command, *options):
        """The command that records another one."""
        return ["rr", "record", *(["-n", "-v", "LD_PRELOAD="] if self.stand_in else []), *options, *command]

    def run(self, command, limit, stdin=subprocess.DEVNULL, **more):
        return subprocess.run(command, stdin=stdin, capture_output=True, text=True, timeout=limit, check=False,
                              env={**os.environ, **self.environment}, **more)

    def forget(self):
        """Removes what was recorded."""
        shutil.rmtree(self.environment["_RR_TRACE_DIR"], ignore_errors=True)
