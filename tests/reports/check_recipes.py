#!/usr/bin/env python3
"""The recipes for GitHub and GitLab against the published schemas of their files: check_recipes.py FOLDER

FOLDER is what fetch_schema unpacked. Needs python3-jsonschema and python3-yaml. The last line is `recipes: N passed, M failed`.
"""
import json
import pathlib
import sys

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GITLAB = "schemas/json/gitlab.com/gitlab-org/gitlab/-/raw/master/app/assets/javascripts/editor/schema/ci.json"
RECIPES = [("examples/ci/github.yml", "schemas/json/github-workflow.json", ("jobs", "portent", "steps")), ("examples/ci/gitlab-ci.yml", GITLAB, ("portent", "script"))]


class Loader(yaml.SafeLoader):
    """YAML 1.2, in which `on` is a word."""


Loader.yaml_implicit_resolvers = {first: [(tag, pattern) for tag, pattern in rows if tag != "tag:yaml.org,2002:bool"]
                                  for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()}


def spoilt(recipe, path):
    """The recipe with a number where its steps are: a schema that takes this would take anything."""
    copy = json.loads(json.dumps(recipe))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = 7
    return copy


def main():
    folder, failed = pathlib.Path(sys.argv[1]), 0
    for name, schema, path in RECIPES:
        validator = jsonschema.Draft7Validator(json.loads((folder / schema).read_text(encoding="utf-8")))
        recipe = yaml.load((ROOT / name).read_text(encoding="utf-8"), Loader)
        problems = [error.message for error in validator.iter_errors(recipe)]
        if not problems and validator.is_valid(spoilt(recipe, path)):
            problems = ["the schema takes anything"]
        failed += bool(problems)
        if problems:
            print(f"FAILED {name}: {problems}")
    print(f"recipes: {len(RECIPES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
