"""A fixture for pytest: portent("./program", "argument") runs a program under Portent, and the test fails with what was found."""
import pathlib
import subprocess

import pytest


@pytest.fixture
def portent(tmp_path):
    def run(*command, options=()):
        result = tmp_path / "result.json"
        done = subprocess.run(["portent", "run", *options, "-r", result, "--", *command], capture_output=True, text=True)
        if done.returncode == 66:
            pytest.fail(f"Portent found:\n{done.stderr}", pytrace=False)
        if done.returncode == 67:
            pytest.fail(f"Portent's answer is not whole:\n{done.stderr}", pytrace=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def here():
    return pathlib.Path(__file__).resolve().parent
