"""What the SARIF 2.1.0 standard (OASIS, 2020) says about the objects that Portent writes: members, types, enumerations.

Written from the standard's text, since its JSON schema is not ours to keep (`make check-sarif` fetches it). An object may have the members listed for
it and no others; `!` marks those it must have. Types: str, int, bool, [element], {member table}, a set of words, or the
name of another object.
"""
import re

SHAPES = {
    "log": {"$schema": str, "version!": {"2.1.0"}, "runs!": ["run"]},
    "run": {"tool!": "tool", "invocations": ["invocation"], "results": ["result"], "columnKind": {"utf16CodeUnits", "unicodeCodePoints"},
            "originalUriBaseIds": "any"},
    "tool": {"driver!": "component"},
    "component": {"name!": str, "version": str, "informationUri": str, "rules": ["rule"]},
    "rule": {"id!": str, "name": str, "shortDescription": "multiformat", "fullDescription": "multiformat", "help": "multiformat",
             "defaultConfiguration": "configuration", "properties": "any"},
    "multiformat": {"text!": str, "markdown": str},
    "configuration": {"level": {"none", "note", "warning", "error"}, "enabled": bool},
    "message": {"text": str, "id": str, "markdown": str},
    "invocation": {"executionSuccessful!": bool, "toolExecutionNotifications": ["notification"], "commandLine": str},
    "notification": {"message!": "message", "level": {"none", "note", "warning", "error"}},
    "result": {"ruleId": str, "ruleIndex": int, "kind": {"pass", "open", "informational", "notApplicable", "review", "fail"},
               "level": {"none", "note", "warning", "error"}, "message!": "message", "locations": ["location"], "partialFingerprints": "strings",
               "fingerprints": "strings", "codeFlows": ["codeFlow"], "suppressions": ["suppression"], "occurrenceCount": int,
               "baselineState": {"new", "unchanged", "updated", "absent"}, "relatedLocations": ["location"], "stacks": ["stack"]},
    "stack": {"message": "message", "frames!": ["stackFrame"]},
    "stackFrame": {"location": "location", "module": str, "threadId": int},
    "suppression": {"kind!": {"inSource", "external"}, "justification": str, "status": {"accepted", "underReview", "rejected"}},
    "codeFlow": {"message": "message", "threadFlows!": ["threadFlow"]},
    "threadFlow": {"id": str, "message": "message", "locations!": ["threadFlowLocation"]},
    "threadFlowLocation": {"location": "location", "executionOrder": int, "importance": {"important", "essential", "unimportant"}, "nestingLevel": int},
    "location": {"id": int, "physicalLocation": "physicalLocation", "message": "message"},
    "physicalLocation": {"artifactLocation": "artifactLocation", "region": "region"},
    "artifactLocation": {"uri": str, "uriBaseId": str, "index": int},
    "region": {"startLine": int, "startColumn": int, "endLine": int, "endColumn": int},
}
NOT_EMPTY = {"threadFlows", "locations of threadFlow"}
URI = re.compile(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?#\[\]]|%[0-9A-Fa-f]{2})*")


def check(value, shape="log", where="$"):
    """Yields what is wrong with `value`."""
    if isinstance(shape, set):
        if value not in shape:
            yield f"{where} is {value!r}, not one of {sorted(shape)}"
    elif isinstance(shape, type):
        if not isinstance(value, shape) or (shape is int and isinstance(value, bool)):
            yield f"{where} is not of type {shape.__name__}"
        elif where.endswith((".startLine", ".startColumn", ".occurrenceCount")) and value < 1:
            yield f"{where} is {value}"
        elif where.endswith(".uri") and not URI.fullmatch(value):
            yield f"{where} is no URI reference: {value!r}"
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{where} is not a list"
            return
        if not value and (where.endswith(".threadFlows") or (".threadFlows[" in where and where.endswith("].locations"))):
            yield f"{where} is empty"
        for i, element in enumerate(value):
            yield from check(element, shape[0], f"{where}[{i}]")
    elif shape == "strings":
        if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
            yield f"{where} does not map to strings"
    elif shape != "any":
        yield from check_object(value, shape, where)


def check_object(value, shape, where):
    if not isinstance(value, dict):
        yield f"{where} is not an object"
        return
    members = {name.rstrip("!"): kind for name, kind in SHAPES[shape].items()}
    for name in SHAPES[shape]:
        if name.endswith("!") and name[:-1] not in value:
            yield f"{where} has no {name[:-1]}"
    for name, inner in value.items():
        if name not in members:
            yield f"{where} may not have {name}"
        else:
            yield from check(inner, members[name], f"{where}.{name}")
