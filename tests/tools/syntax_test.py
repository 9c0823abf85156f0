#!/usr/bin/env python3
"""tools/check-syntax on a copy of the project whose languages have changed: it must tell, and --update must mend the copy."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = ["src/core/operators.def", "src/core/ops.def", "src/core/ops.c", "src/net/sml_lex.c"]


def check(folder, *options):
    done = subprocess.run([sys.executable, ROOT / "tools/check-syntax", *options, folder], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text, (path, old)
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def main():
    with tempfile.TemporaryDirectory(prefix="portent-syntax-") as name:
        folder = pathlib.Path(name)
        shutil.copytree(ROOT / "share", folder / "share")
        shutil.copytree(ROOT / "src/logic/lang", folder / "src/logic/lang")
        for path in FILES:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, folder / path)
        assert check(folder)[0] == 0, check(folder)
        change(folder / "src/core/operators.def", '"historically", "H"', '"ever", "E"')
        change(folder / "src/core/ops.def", '"racq"', '"shared"')
        change(folder / "src/net/sml_lex.c", '"skip"', '"nothing"')
        change(folder / "src/logic/lang/parse_property.c", '{"us", 1000}', '{"min", 1000}')
        status, said = check(folder)
        assert status == 1, said
        for kind in ("vim", "json"):
            for words in ("lacks 'ever'", "lacks 'E'", "has 'historically'", "lacks 'shared'", "has 'racq'", "lacks 'nothing'", "units are"):
                assert re.search(rf"{kind}: .*{words}", said), (kind, words, said)
        status, said = check(folder, "--update")
        assert status == 1 and said.count("units are") == 2 and said.count("\n") == 3, said  # units stand in a pattern of their own
    print("syntax: 1 passed, 0 failed")


if __name__ == "__main__":
    main()
