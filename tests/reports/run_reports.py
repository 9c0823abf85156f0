#!/usr/bin/env python3
"""Reports made from results: each format, ids that stay, suppressions, baselines, and results that are none.

    run_reports.py PORTENT [SARIF_SCHEMA]

With a schema (tests/reports/fetch_schema), SARIF is held against it too. The last line is `reports: N passed, M failed`.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback
import xml.etree.ElementTree

import sarif_shape

SCHEMA = None  # a jsonschema validator, when a schema is given

WATER = """-|init(w)=20|-
-|init(v)=40|-
T2|w(w)=24|water.c:20
T1|r(w)=24|water.c:5
T1|w(v)=50|water.c:8
T2|w(w)=27|water.c:20
T1|w(v)=60|water.c:8
T2|w(w)=31|water.c:20
T1|r(w)=31|water.c:5
T1|w(v)=70|water.c:8
"""
WATER_PROP = """property valve: always (w > 30 -> ((v > 55 && w > 26) since start(w > 26)));
property low: w < 1000;
property broken: w / (v - 40) >= 0;
property vague: eventually w > 1000;
"""
MODEL = {"portent": 1, "file": "x.sml", "blocks": [
    {"thread": 1, "block": 1, "line": 3, "causally_atomic": False, "witness": [
        {"thread": 1, "text": "begin", "line": 3}, {"thread": 2, "text": "Y := X", "line": 9, "after": [0]}]},
    {"thread": 2, "block": 1, "line": 8, "causally_atomic": True}], "net": {"places": 1, "transitions": 1}}


def sarif_problems(log):
    """What is wrong with a SARIF log."""
    yield from sarif_shape.check(log)
    if SCHEMA:
        yield from (f"{'/'.join(map(str, error.path))}: {error.message}" for error in SCHEMA.iter_errors(log))


class Folder:
    """A folder to run the tool in."""

    def __init__(self, portent, path):
        self.portent, self.path = portent, pathlib.Path(path)

    def write(self, name, text):
        (self.path / name).write_text(text, encoding="utf-8")

    def run(self, *arguments, status=0):
        done = subprocess.run([self.portent, *arguments], cwd=self.path, capture_output=True, check=False)
        assert done.returncode == status, f"{arguments}: status {done.returncode}, {done.stderr.decode()}"
        return done.stdout.decode() + (done.stderr.decode() if status == 2 else "")

    def result(self, name="r.json", trace=WATER, prop=WATER_PROP, options=(), status=2):
        self.write("x.trace", trace)
        self.write("x.prop", prop)
        text = self.run("check", "--json", *options, "-s", "x.prop", "x.trace", status=status)
        self.write(name, text)
        return json.loads(text)


def text_is_what_check_prints(folder):
    for options in ((), ("--window", "2", "--lookahead", "3"), ("--exhaustive",)):
        folder.result(options=options)
        printed = folder.run("check", *options, "-s", "x.prop", "x.trace", status=2)
        assert folder.run("report", "r.json").split() == printed.split()


def result_survives_reading(folder):
    """The page carries the result as it was read back: it must be the one that was written, value by value."""
    trace = ('-|init(big)=18446744073709551615|-\n-|init(f)=0.5|-\n-|init(s)="a\\n\\"<b>"|-\n' + WATER
             + 'T2|w(big)=-9223372036854775808|x.c:1\nT1|w(f)=1e300|x.c:2\nT1|w(s)="\U0001F30A"|x.c:3\nT2|event(go)|x.c:4\n')
    prop = 'property p: always !(event(go) && f > 1.0 && big < 1 && s != "");\n'
    for options in ((), ("--window", "2", "--lookahead", "2")):
        written = folder.result(trace=trace, prop=prop, options=options, status=1)
        page = folder.run("report", "--html", "r.json")
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL).group(1)
        assert "<" not in data
        assert json.loads(data)["result"] == written


OTHER_KINDS = """property look at T1: v > 45 -> @T2(w) >= 27;
property late within 3 events: always eventually event(go);
property dead within 3 events: always w < 27;
property fine within 100 events: always w < 100;
property each at each i: v <= 50;
"""


def other_kinds(folder):
    """Decentralised properties and those with a bound have no witness, and come through every format all the same."""
    written = folder.result(prop=OTHER_KINDS, status=1)
    printed = folder.run("check", "-q", "-s", "x.prop", "x.trace", status=1) + folder.run("check", "-s", "x.prop", "x.trace", status=1)
    assert folder.run("report", "r.json").split() == printed.split()
    data = re.search(r'id="data">(.*?)</script>', folder.run("report", "--html", "r.json"), re.DOTALL).group(1)
    assert json.loads(data)["result"] == written
    log = json.loads(folder.run("report", "--sarif", "r.json"))
    assert not list(sarif_problems(log))
    places = [found["locations"][0]["physicalLocation"] for found in log["runs"][0]["results"]]
    assert [place["artifactLocation"]["uri"] for place in places] == ["water.c"] * 4, places
    suite = xml.etree.ElementTree.fromstring(folder.run("report", "--junit", "r.json"))[0]
    assert [[child.attrib["type"] for child in case] for case in suite] == [["observed violation"], ["late"], ["dead"], [], ["observed violation"]]
    folder.run("report", "--shiviz", "r.json")
    folder.run("report", "--perfetto", "r.json")
    folder.result(prop=OTHER_KINDS, options=("--baseline", "r.json"), status=0)


def window_is_told(folder):
    """Contract section 3: W=2 L=3 on the water tank leaves out (T1, T2) = (0, 3) alone."""
    detail = folder.result(options=("--window", "2", "--lookahead", "3"))["properties"][0]["detail"]
    lattice, threads = detail["lattice"], detail["threads"]
    dropped = [dict(zip(threads, lattice["cuts"][i])) for i in lattice["dropped"]]
    assert dropped == [{"T1": 0, "T2": 3}], dropped


def lattice_counts_agree(folder):
    found = folder.result(options=("--exhaustive",))["properties"][0]
    lattice = found["detail"]["lattice"]
    assert len(lattice["cuts"]) == found["states"] == 11
    assert lattice["whole"] and not lattice["dropped"]
    ways = [1] + [0] * (len(lattice["cuts"]) - 1)
    for a, b in lattice["edges"]:
        ways[b] += ways[a]
    assert str(ways[-1]) == found["runs"]
    assert len(lattice["observed"]) == found["levels"]


def sarif(folder):
    folder.result()
    log = json.loads(folder.run("report", "--sarif", "r.json"))
    problems = list(sarif_problems(log))
    assert not problems, problems
    run = log["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [f"property/{name}" for name in ("valve", "low", "broken", "vague")]
    (found,) = run["results"]
    assert found["ruleId"] == "property/valve" and re.fullmatch("[0-9a-f]{16}", found["partialFingerprints"]["portentFindingId/v1"])
    place = found["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "water.c" and place["region"]["startLine"] == 20
    flows = found["codeFlows"][0]["threadFlows"]
    assert [flow["id"] for flow in flows] == ["T2"]
    assert not run["invocations"][0]["executionSuccessful"]
    assert any("broken" in note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"])


def sarif_of_threads_paths_and_length(folder):
    trace = "".join(f"T{i % 3}|u(x)={i}|{folder.path}/dir/a file.c:{i + 1}\n" for i in range(1500))
    folder.result(trace=trace, prop="property long: x < 1499;\n", status=1)
    log = json.loads(folder.run("report", "--sarif", "r.json"))
    assert not list(sarif_problems(log))
    (found,) = log["runs"][0]["results"]
    flows = found["codeFlows"][0]["threadFlows"]
    assert sorted(flow["id"] for flow in flows) == ["T0", "T1", "T2"]
    steps = [step for flow in flows for step in flow["locations"]]
    assert sorted(step["executionOrder"] for step in steps) == list(range(1, 1001))
    assert "last 1000" in found["message"]["text"]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "dir/a%20file.c", "uriBaseId": "%SRCROOT%"}


def sarif_of_a_model(folder):
    folder.write("m.json", json.dumps(MODEL))
    log = json.loads(folder.run("report", "--sarif", "m.json"))
    assert not list(sarif_problems(log))
    (found,) = log["runs"][0]["results"]
    assert found["ruleId"] == "causal-atomicity" and len(found["codeFlows"][0]["threadFlows"]) == 2


def confirmation_is_told(folder):
    result = folder.result()
    for member, words in (({"confirmed": True}, "Confirmed: another run of the program broke it."),
                          ({"confirmed": False, "not_reproduced": "it diverged at a.c:3"},
                           "Not reproduced by another run of the program: it diverged at a.c:3.")):
        changed = json.loads(json.dumps(result))
        changed["properties"][0].update(member)
        folder.write("c.json", json.dumps(changed))
        log = json.loads(folder.run("report", "--sarif", "c.json"))
        assert words in log["runs"][0]["results"][0]["message"]["text"] and not list(sarif_problems(log))
        for form in ("--junit", "--html"):
            told = words if form == "--junit" else json.dumps(list(member)[-1])
            assert told in " ".join(folder.run("report", form, "c.json").split())


def the_sarif_check_can_fail(folder):
    folder.result()
    log = json.loads(folder.run("report", "--sarif", "r.json"))
    log["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"] = []
    log["runs"][0]["results"][0]["colour"] = "red"
    del log["runs"][0]["tool"]["driver"]["name"]
    assert len(list(sarif_shape.check(log))) == 3
    assert not SCHEMA or len(list(SCHEMA.iter_errors(log))) == 3


def junit(folder):
    folder.result()
    suite = xml.etree.ElementTree.fromstring(folder.run("report", "--junit", "r.json"))[0]
    assert suite.attrib["tests"] == "4" and suite.attrib["failures"] == "1" and suite.attrib["errors"] == "1"
    outcomes = {case.attrib["name"]: [child.tag for child in case] for case in suite}
    assert outcomes == {"valve": ["failure"], "low": [], "broken": ["error"], "vague": []}, outcomes
    assert "SUMMARY: portent:" in suite[0][0].text
    folder.write("m.json", json.dumps(MODEL))
    suite = xml.etree.ElementTree.fromstring(folder.run("report", "--junit", "m.json"))[0]
    assert suite.attrib["tests"] == "2" and suite.attrib["failures"] == "1"


def junit_is_xml_whatever_names_say(folder):
    trace = 'T<1>&"|w(w)="\\x01</failure>]]>"|a&b<c>\n'
    folder.result(trace="-|init(w)=\"\"|-\n" + trace, prop='property p: w == "";\n', status=1)
    suite = xml.etree.ElementTree.fromstring(folder.run("report", "--junit", "r.json"))[0]
    assert 'T<1>&"' in suite[0][0].text


def gitlab_problems(text):
    """What GitLab's documentation asks of a Code Quality report: a list of objects with these members, no name twice."""
    entries, prints = json.loads(text), set()
    assert isinstance(entries, list), text
    for entry in entries:
        if set(entry) != {"description", "check_name", "fingerprint", "severity", "location"} or set(entry["location"]) != {"path", "lines"}:
            yield f"members {sorted(entry)}"
        if entry["severity"] not in ("info", "minor", "major", "critical", "blocker"):
            yield f"severity {entry['severity']}"
        path, begin = entry["location"]["path"], entry["location"]["lines"]["begin"]
        if not path or path.startswith(("/", "./")) or not isinstance(begin, int) or begin < 1:
            yield f"location {path}:{begin}"
        if not entry["description"] or entry["fingerprint"] in prints:
            yield f"fingerprint {entry['fingerprint']}"
        prints.add(entry["fingerprint"])


def gitlab(folder):
    result = folder.result()
    text = folder.run("report", "--gitlab", "r.json")
    assert not list(gitlab_problems(text)), list(gitlab_problems(text))
    (entry,) = json.loads(text)
    assert entry["fingerprint"] == result["properties"][0]["id"] and entry["check_name"] == "portent/valve"
    assert entry["location"] == {"path": "water.c", "lines": {"begin": 20}} and entry["severity"] == "critical"
    assert entry["description"].startswith("Property 'valve' can be violated")
    # Below the current folder, and without a line in the source.
    folder.result(trace=WATER.replace("water.c", f"{folder.path}/./src/water.c"))
    assert json.loads(folder.run("report", "--gitlab", "r.json"))[0]["location"]["path"] == "src/water.c"
    folder.result(trace=re.sub(r"water.c:\d+", "-", WATER))
    assert json.loads(folder.run("report", "--gitlab", "r.json"))[0]["location"] == {"path": "x.prop", "lines": {"begin": 1}}
    folder.write("m.json", json.dumps(MODEL))
    text = folder.run("report", "--gitlab", "m.json")
    assert not list(gitlab_problems(text)) and json.loads(text)[0]["location"] == {"path": "x.sml", "lines": {"begin": 3}}


def gitlab_has_what_counts(folder):
    folder.result(name="old.json")
    folder.result(options=("--baseline", "old.json"))
    assert json.loads(folder.run("report", "--gitlab", "r.json")) == []
    broken = json.dumps([{"description": "x", "severity": "bad", "check_name": "y", "fingerprint": "z", "location": {"path": "/a", "lines": {"begin": 0}}}])
    assert len(list(gitlab_problems(broken))) == 2


def markdown(folder):
    folder.result()
    text = folder.run("report", "--markdown", "r.json")
    assert text.startswith("### Portent: 1 finding\n") and "| predicted | Property 'valve' can be violated" in text, text
    assert "| water.c:20 |" in text and "SUMMARY: portent: predicted violation of 'valve'" in text
    assert "- Property 'broken' cannot be evaluated: " in text and "without a violation" in text
    folder.result(name="old.json")
    folder.result(options=("--baseline", "old.json"))
    text = folder.run("report", "--markdown", "r.json")
    assert text.startswith("### Portent: nothing found\n") and "- 1 suppressed, or in the baseline" in text and "<details>" not in text


def markdown_is_plain_whatever_names_say(folder):
    trace = "<b>*_`@all|w(w)=1|a.c:1\n"
    folder.result(trace=trace, prop="property p: w == 0;\n", status=1)
    text = folder.run("report", "--markdown", "r.json")
    table, _, rest = text.partition("<details>")
    assert "<b>" not in table and "&lt;b>" not in table and "&lt;b\\>\\*\\_\\`\\@all" in table, table
    folder.result(trace='-|init(w)=""|-\nT|w(w)="```` x"|-\n', prop='property p: w == "";\n', status=1)
    fences = re.findall(r"^(`+)(?:text)?$", folder.run("report", "--markdown", "r.json"), re.MULTILINE)
    assert fences == ["`" * 5] * 2, fences


def shiviz(folder):
    for options in ((), ("--window", "2", "--lookahead", "3")):
        folder.result(options=options)
        line_pattern, execution_pattern, *lines = folder.run("report", "--shiviz", "r.json").splitlines()
        python = lambda pattern: pattern.replace("(?<", "(?P<")
        parse, separate = re.compile(python(line_pattern)), re.compile(python(execution_pattern))
        executions = {}
        for line in lines:
            if separate.match(line):
                events = executions.setdefault(separate.match(line)["trace"], [])
            else:
                match = parse.fullmatch(line)
                events.append((match["host"], json.loads(match["clock"]), match["event"]))
        assert list(executions) == ["valve: predicted run", "valve: your run"]
        for events in executions.values():
            seen = {}
            for host, clock, _ in events:
                seen[host] = seen.get(host, 0) + 1
                assert clock[host] == seen[host], "a host's own clock counts its events"
                assert all(seen.get(other, 0) >= count for other, count in clock.items()), "nothing comes before its causes"


def perfetto(folder):
    folder.result()
    events = json.loads(folder.run("report", "--perfetto", "r.json"))["traceEvents"]
    names = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert names == ["valve: predicted run", "valve: your run"], names
    assert [event["args"]["value"] for event in events if event["ph"] == "C" and event["name"] == "w" and event["pid"] == 1] == [24, 27, 31]
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    assert starts.keys() == ends.keys() and starts
    assert all(starts[i]["ts"] < ends[i]["ts"] for i in starts)


def ids_stay(folder):
    def id_of(**changes):
        return folder.result(**changes)["properties"][0]["id"]
    first = id_of()
    moved = re.sub(r"water\.c:(\d+)", lambda match: f"water.c:{int(match[1]) + 1}", WATER)
    assert id_of(trace=moved) == first, "a line was added to the program"
    assert id_of(prop="// a comment\n" + WATER_PROP) == first, "a line was added to the property file"
    assert id_of(trace=WATER.replace("=24", "=23")) == first, "another value"
    assert id_of(options=("--window", "64", "--lookahead", "256")) == first
    assert id_of(prop=WATER_PROP.replace("valve", "other")) != first
    numbered = [id_of(trace=WATER.replace("T2|", f"worker#{k}|")) for k in (1, 2)]
    assert numbered[0] == numbered[1] != first, "threads are told apart by their start function, not by their number"


def baselines(folder):
    folder.result(name="old.json", prop=WATER_PROP.splitlines()[0], status=1)
    both = WATER_PROP.splitlines()[0] + "\nproperty extra: v < 60;\n"
    found = folder.result(prop=both, options=("--baseline", "old.json"), status=1)
    assert [p.get("known", False) for p in found["properties"]] == [True, False]
    text = folder.run("check", "--baseline", "old.json", "-s", "x.prop", "x.trace", status=1)
    assert "SUMMARY: portent: observed violation of 'extra'" in text and "violation of 'valve'" not in text
    assert "the baseline knows" in text
    folder.result(prop=WATER_PROP.splitlines()[0], options=("--baseline", "old.json"), status=0)
    log = json.loads(folder.run("report", "--sarif", "r.json"))
    assert log["runs"][0]["results"][0]["baselineState"] == "unchanged"


def suppressions(folder):
    folder.write("s", "# what we live with\nproperty:va*\n\nproperty:nothing\nrace:foo\n")
    prop = WATER_PROP.splitlines()[0]
    found = folder.result(prop=prop, options=("--suppressions", "s"), status=0)
    assert found["properties"][0]["suppressed"] == "property:va*"
    assert [(s["text"], s["used"]) for s in found["suppressions"]] == [("property:va*", 1), ("property:nothing", 0), ("race:foo", 0)]
    text = folder.run("check", "--suppressions", "s", "-s", "x.prop", "x.trace")
    assert "SUMMARY" not in text and "property:va* suppresses" in text and "property:nothing was not used (s:4)" in text
    case = xml.etree.ElementTree.fromstring(folder.run("report", "--junit", "r.json"))[0][0]
    assert case[0].tag == "skipped"
    log = json.loads(folder.run("report", "--sarif", "r.json"))
    assert log["runs"][0]["results"][0]["suppressions"][0]["justification"] == "property:va*" and not list(sarif_problems(log))
    folder.write("s", "race:^counter$\n")
    race = {"trace": "T1|w(counter)=1|a.c:1\nT2|w(counter)=2|a.c:2\n", "prop": "property p at each i: race_free(*);\n"}
    found = folder.result(**race, options=("--suppressions", "s"), status=0)
    other = folder.result(trace=race["trace"].replace("counter", "other"), prop=race["prop"], options=("--suppressions", "s"), status=1)
    assert found["properties"][0]["findings"][0]["id"] != other["properties"][0]["findings"][0]["id"]
    folder.write("x.trace", WATER)
    folder.write("s", "property:valv\n")
    folder.result(prop=prop, options=("--suppressions", "s"), status=1)
    folder.write("s", "what is this\n")
    assert "s:1:1: error: a suppression is TYPE:PATTERN" in folder.run("check", "--suppressions", "s", "-s", "x.prop", "x.trace", status=2)


def duplicates_are_counted(folder):
    prop = WATER_PROP.splitlines()[0]
    folder.result(name="a.json", prop=prop, status=1)
    folder.result(name="b.json", prop=prop, options=("--exhaustive",), status=1)
    folder.result(name="c.json", prop=prop + "\nproperty low: w < 1000;\n", status=1)
    text = folder.run("report", "a.json", "b.json", "c.json")
    assert text.count("SUMMARY") == 1 and "(3 times)" in text and "'low' holds" in text
    log = json.loads(folder.run("report", "--sarif", "a.json", "b.json"))
    assert log["runs"][0]["results"][0]["occurrenceCount"] == 2


def processes_are_results(folder):
    """A list of processes is none beside them."""
    one, two = (folder.result(name=name, prop=WATER_PROP.splitlines()[0], status=1) for name in ("a.json", "b.json"))
    folder.write("r.json", json.dumps({"portent": 1, "trace": "x", "processes": [
        {"pid": pid, "program": "./p", "folder": "/", "result": result} for pid, result in ((4711, one), (4712, two))]}))
    for inputs, expected in ((["r.json"], 2), (["a.json", "r.json"], 3), (["a.json", "b.json"], 2)):
        data = re.search(r'id="data">(.*?)</script>', folder.run("report", "--html", *inputs), re.DOTALL).group(1)
        assert len(json.loads(data)["results"]) == expected, (inputs, json.loads(data)["results"])


SML = """int X, Y;
thread clerk { begin: increment Y := X  X := Y end  begin Y := X  X := Y end }
thread other { Y := X  X := Y }
"""
RUN = "T1|begin(b)|a.c:1\nT1|w(x)=1|a.c:2\nT2|w(x)=2|b.c:1\nT1|r(x)|a.c:3\nT1|end(b)|a.c:4\n"


def blocks_of(folder, source, *options, status=1, name="m.json"):
    """What `model` or `check --atomicity` says of a program or a trace; the result is kept as a file."""
    model = source.lstrip().startswith(("int", "//"))
    folder.write("p.sml" if model else "p.trace", source)
    command = ["model"] if model else ["check", "--atomicity"]
    operand = "p.sml" if model else "p.trace"
    folder.write(name, folder.run(*command, "--json", *options, operand, status=status))
    found = json.loads((folder.path / name).read_text())
    printed = folder.run(*command, *options, operand, status=status)
    return found, printed


def ids_of_blocks_stay(folder):
    first, _ = blocks_of(folder, SML)
    ids = [block["id"] for block in first["blocks"]]
    assert len(set(ids)) == 2, ids
    moved, _ = blocks_of(folder, "// a comment\n" + SML)
    assert [block["id"] for block in moved["blocks"]] == ids and moved["blocks"][0]["line"] == first["blocks"][0]["line"] + 1
    run, _ = blocks_of(folder, RUN)
    later, _ = blocks_of(folder, re.sub(r"a\.c:(\d)", lambda match: f"a.c:{int(match[1]) + 1}", RUN))
    assert run["blocks"][0]["id"] == later["blocks"][0]["id"] and run["blocks"][0]["line"] != later["blocks"][0]["line"]
    sarif_ids = {json.dumps(result["partialFingerprints"]) for result in json.loads(folder.run("report", "--sarif", "m.json"))["runs"][0]["results"]}
    assert len(sarif_ids) == 1 and run["blocks"][0]["id"] in sarif_ids.pop()


def baselines_of_blocks(folder):
    for source, changed in ((SML, "// a comment\n" + SML), (RUN, RUN.replace("a.c:4", "a.c:5"))):
        blocks_of(folder, source, name="old.json")
        found, text = blocks_of(folder, changed, "--baseline", "old.json", status=0)
        assert all(block["known"] for block in found["blocks"]) and "SUMMARY" not in text and "the baseline knows it" in text
        assert folder.run("report", "m.json") == text
        assert json.loads(folder.run("report", "--sarif", "m.json"))["runs"][0]["results"][0]["baselineState"] == "unchanged"
    blocks_of(folder, SML.replace("increment", "elsewhere"), name="old.json")
    found, text = blocks_of(folder, SML, "--baseline", "old.json")
    assert [block.get("known", False) for block in found["blocks"]] == [False, True], "the name is new"
    assert text.count("SUMMARY") == 1
    blocks_of(folder, RUN.replace("(b)", "(c)"), name="old.json")
    blocks_of(folder, RUN, "--baseline", "old.json", status=1)
    folder.result(name="old.json")
    blocks_of(folder, SML, "--baseline", "old.json", status=1)


def suppressions_of_blocks(folder):
    for source, lines, status in ((SML, "block:incr*\nblock:clerk/1\nblock:clerk/2\n", 0), (SML, "block:increment\n", 1), (SML, "block:incr\n", 1),
                                  (SML, "atomicity:clerk\n", 0), (SML, "atomicity:^cr\n", 1), (SML, "property:increment\n", 1),
                                  (RUN, "block:b\n", 0), (RUN, "atomicity:a.c\n", 0), (RUN, "atomicity:T2\n", 1), (RUN, "race:b\n", 1)):
        folder.write("s", lines)
        found, text = blocks_of(folder, source, "--suppressions", "s", status=status)
        assert ("SUMMARY" in text) == (status == 1), (lines, text)
    folder.write("s", "block:incr*\nblock:nothing\natomicity:clerk\n")
    found, text = blocks_of(folder, SML, "--suppressions", "s", status=0)
    assert [block["suppressed"] for block in found["blocks"]] == ["block:incr*", "atomicity:clerk"]
    assert [(s["text"], s["used"]) for s in found["suppressions"]] == [("block:incr*", 1), ("block:nothing", 0), ("atomicity:clerk", 1)]
    assert "; block:incr* suppresses it\n" in text and "2 blocks: 0 causally atomic, 2 not (2 suppressed)" in text and "block:nothing was not used (s:2)" in text
    suite = xml.etree.ElementTree.fromstring(folder.run("report", "--junit", "m.json"))[0]
    assert suite.get("skipped") == "2" and suite.get("failures") == "0" and "suppressed by block:incr*" in suite[0][0].get("message")
    log = json.loads(folder.run("report", "--sarif", "m.json"))
    assert log["runs"][0]["results"][0]["suppressions"][0]["justification"] == "block:incr*" and not list(sarif_problems(log))
    assert '"suppressed": "block:incr*"' in folder.run("report", "--html", "m.json")
    folder.write("n.ll_net", "")
    assert "not about a net" in folder.run("model", "--net", "n.ll_net", "--suppressions", "s", status=2)
    assert "cannot open" in folder.run("model", "--baseline", "none.json", "p.sml", status=2)


def blocks_are_counted(folder):
    folder.write("s", "block:increment\n")
    blocks_of(folder, SML, "--suppressions", "s", name="a.json")
    blocks_of(folder, SML, name="b.json")
    blocks_of(folder, SML.replace("thread other { Y := X  X := Y }", ""), status=0, name="c.json")
    text = folder.run("report", "a.json", "a.json")
    assert text.count("SUMMARY") == 1 and text.count("(in 2 results)") == 2 and "block:increment suppresses it" in text
    for order in (("a.json", "b.json", "c.json"), ("c.json", "a.json", "b.json")):
        text = folder.run("report", *order)
        assert text.count("SUMMARY") == 2 and text.count("(in 2 results)") == 2, "it counts if it does anywhere"
        assert "2 blocks: 0 causally atomic, 2 not" in text
        log = json.loads(folder.run("report", "--sarif", *order))
        assert [result["occurrenceCount"] for result in log["runs"][0]["results"]] == [2, 2] and not list(sarif_problems(log))
    folder.result(name="d.json")
    text = folder.run("report", "a.json", "d.json")
    assert "violation of 'valve'" in text and "block 1 of clerk" in text
    assert folder.run("report", "--html", "d.json", "a.json").count('"causally_atomic": false') == 2


def bad_results_are_refused(folder):
    good = folder.result()
    text = json.dumps(good)
    bad = {"{": "not JSON", text[:len(text) // 2]: "not JSON", "{}": "JSON of something else", '{"portent": 2}': "version 2", '{"portent": 1}': 'no "properties"',
           '{"portent": 1, "properties": 3}': "not a list", '{"portent": 1, "trace": "x", "events": -1, "threads": 1, "properties": []}': "events",
           "{" * 100000: "not JSON", '{"portent": 1, "blocks": [{}]}': 'no "thread"'}
    changes = [(("witness",), [1]), (("detail", "witness"), [9, 9, 9]), (("detail", "moves", 0, "step"), 99), (("detail", "moves", 0, "over"), 99),
               (("detail", "actual", 0, "clock"), [1]), (("detail", "actual", 0, "var"), 7), (("detail", "actual", 0, "thread"), "nobody"),
               (("detail", "actual", 0, "number"), 5), (("detail", "witness_truths", 0), "tt"), (("detail", "actual_truths"), []),
               (("detail", "lattice", "edges", 0), [0, 99]), (("detail", "lattice", "cuts", 0), [0]), (("detail", "lattice", "observed"), [99]),
               (("how",), "guessed"), (("verdict",), "maybe"), (("name",), 3), (("detail", "formulas", 0, "depth"), -1)]
    for path, value in changes:
        changed = json.loads(text)
        place = changed["properties"][0]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        bad[json.dumps(changed)] = "not a result"
    for content, message in bad.items():
        folder.write("bad.json", content)
        for form in ("--html", "--sarif"):
            said = folder.run("report", form, "bad.json", status=2)
            assert said.startswith("bad.json:") and message in said.splitlines()[0], (content[:200], said)
    assert "cannot be made from a trace" in folder.run("report", "--html", "x.trace", status=2)
    assert "exclude each other" in folder.run("report", "--html", "--sarif", "r.json", status=2)
    assert "missing" in folder.run("report", status=2)
    assert "cannot open" in folder.run("report", "--html", "none.json", status=2)


def output_files(folder):
    folder.result()
    folder.run("report", "--junit", "r.json", "-o", "out.xml")
    assert (folder.path / "out.xml").read_text() == folder.run("report", "--junit", "r.json")
    assert sorted(path.name for path in folder.path.iterdir()) == ["out.xml", "r.json", "x.prop", "x.trace"]
    folder.run("report", "--junit", "r.json", "-o", "none/out.xml", status=2)


class Sources:
    """A folder `home` to make reports in, with files below and beside it, and results that name a place of the forger's choice."""

    def __init__(self, folder):
        self.top = folder.path.resolve()
        self.here = self.top / "home"
        for path in ("home/sub", "home2", "other"):
            (self.top / path).mkdir(parents=True)
        for path in ("secret.c", "home/a.c", "home/sub/b.c", "home2/x.c", "other/o.c"):
            (self.top / path).write_text(f"line of {path}\n", encoding="utf-8")
        line = "// sixty-four bytes with the end, so that a MiB has 16384 of it\n"
        assert len(line) == 64
        (self.here / "big.c").write_text(line * 16383 + line.rstrip() + " and more\n" + line, encoding="utf-8")
        for name, target in (("out.c", "../secret.c"), ("up", ".."), ("in.c", "a.c"), ("null.c", "/dev/null")):
            (self.here / name).symlink_to(target)
        os.mkfifo(self.here / "pipe.c")
        self.pipe = open(self.here / "pipe.c", "r+b", buffering=0)  # with a line in it, for whoever would read
        self.pipe.write(b"line of a pipe\n")
        self.folder = Folder(folder.portent, self.here)

    def forge(self, place, name="r.json", **members):
        """A result whose one event is at `place`; a member that is None is left out."""
        result = self.folder.result(trace=f"T1|w(v)=50|{place}\n", prop="property p: v < 40;\n", status=1)
        assert result["source_roots"] == [str(self.here)]
        self.folder.write(name, json.dumps({key: value for key, value in (result | members).items() if value is not None}))

    def quoted(self, place, *options, **members):
        """The line that a page of such a result quotes, None where it has none."""
        self.forge(place, **members)
        return self.page("r.json", *options).get(place)

    def page(self, *arguments):
        done = subprocess.run([self.folder.portent, "report", "--html", *arguments], cwd=self.here, capture_output=True, text=True, timeout=60, check=True)
        return json.loads(re.search(r'id="data">(.*?)</script>', done.stdout, re.DOTALL).group(1))["sources"]


def only_files_below_a_root_are_quoted(folder):
    """Nothing outside the current folder, whatever the result says and wherever links lead; no pipe is waited for."""
    at = Sources(folder)
    inside = {"a.c:1": "a.c", "sub/../a.c:1": "a.c", "in.c:1": "a.c", f"{at.here}/a.c:1": "a.c", f"{at.here}/./sub//b.c:1": "sub/b.c", "sub/b.c:1:7": "sub/b.c",
              "../home/a.c:1": "a.c"}
    outside = ["../secret.c:1", f"{at.top}/secret.c:1", f"{at.here}/../secret.c:1", "out.c:1", "up/secret.c:1", "up/home2/x.c:1", f"{at.top}/home2/x.c:1", "null.c:1",
               "pipe.c:1", "/dev/zero:1", "/proc/self/environ:1", "sub:1", "a.c:2", "none.c:1", "../" * 40 + "etc/passwd:1"]
    for roots in ([str(at.here)], None, ["/"], [str(at.top), "/etc", "/dev", "/proc"], ["relative", str(at.here)]):
        for place, path in inside.items():
            assert at.quoted(place, source_roots=roots) == f"line of home/{path}", (place, roots)
        for place in outside:
            assert at.quoted(place, source_roots=roots) is None, (place, roots)


def recorded_roots_narrow(folder):
    at = Sources(folder)
    for roots in ([str(at.here / "sub")], [f"{at.here}/none/../sub/", "/etc"]):
        assert at.quoted("a.c:1", source_roots=roots) is None
        assert at.quoted("sub/b.c:1", source_roots=roots) == at.quoted("b.c:1", source_roots=roots) == "line of home/sub/b.c"
    for roots in ([], [str(at.top / "home2")], [str(at.here / "up")], [str(at.here / "none")]):
        assert at.quoted("a.c:1", source_roots=roots) is None and at.quoted(f"{at.top}/home2/x.c:1", source_roots=roots) is None, roots
    at.forge("a.c:1", name="one.json", source_roots=[str(at.here / "sub")])
    at.forge("sub/b.c:1", name="two.json", source_roots=[str(at.here / "sub")])
    at.forge("a.c:1", name="all.json")
    assert at.page("one.json", "two.json") == {} and at.page("two.json", "one.json") == {"sub/b.c:1": "line of home/sub/b.c"}
    assert at.page("one.json", "all.json") == {"a.c:1": "line of home/a.c"}
    for roots in ("x", [1], ["x\0y"], ["/"] * 1001):
        at.forge("a.c:1", source_roots=roots)
        assert "source_roots" in at.folder.run("report", "--html", "r.json", status=2)


def source_roots_are_added(folder):
    at = Sources(folder)
    added = ("--source-root", "../other", "--source-root", f"{at.top}/home2")
    for place, path in (("a.c:1", "home/a.c"), ("o.c:1", "other/o.c"), ("../other/o.c:1", "other/o.c"), (f"{at.top}/home2/x.c:1", "home2/x.c")):
        assert at.quoted(place, *added) == f"line of {path}", place
    for place in ("../secret.c:1", "out.c:1", f"{at.top}/other/../secret.c:1"):
        assert at.quoted(place, *added) is None and at.quoted(place, "--source-root=..") == "line of secret.c", place
    for place in ("pipe.c:1", "null.c:1", "/dev/zero:1"):
        assert at.quoted(place, "--source-root", "/") is None, place
    for root in ("none", "a.c"):
        assert "--source-root" in at.folder.run("report", "--html", "--source-root", root, "r.json", status=2)


def one_mebibyte_is_read(folder):
    at = Sources(folder)
    assert at.quoted("big.c:16383").startswith("// sixty-four")
    assert at.quoted("big.c:16384") is None and at.quoted("big.c:16385") is None  # the first of these goes on behind it


TESTS = [only_files_below_a_root_are_quoted, recorded_roots_narrow, source_roots_are_added, one_mebibyte_is_read, text_is_what_check_prints, result_survives_reading, other_kinds, window_is_told, lattice_counts_agree, sarif, sarif_of_threads_paths_and_length,
         sarif_of_a_model, confirmation_is_told, the_sarif_check_can_fail, junit, junit_is_xml_whatever_names_say,
         gitlab, gitlab_has_what_counts, markdown, markdown_is_plain_whatever_names_say, shiviz, perfetto, ids_stay, baselines, suppressions,
         duplicates_are_counted, processes_are_results, ids_of_blocks_stay, baselines_of_blocks, suppressions_of_blocks, blocks_are_counted, bad_results_are_refused, output_files]


def main():
    global SCHEMA
    portent = str(pathlib.Path(sys.argv[1]).resolve())
    if len(sys.argv) > 2:
        import jsonschema  # not needed, and not there, in the usual run
        schema = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
        SCHEMA = jsonschema.validators.validator_for(schema)(schema)
    passed = failed = 0
    for test in TESTS:
        with tempfile.TemporaryDirectory(prefix="portent-reports-") as path:
            try:
                test(Folder(portent, path))
                passed += 1
            except Exception:  # whatever it is, the other tests still run
                failed += 1
                print(f"FAILED {test.__name__}")
                traceback.print_exc(file=sys.stdout)
    print(f"reports: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
