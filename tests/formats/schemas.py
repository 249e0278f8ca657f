# SPDX-License-Identifier: Apache-2.0
"""The published schemas against what is really written, and against what the readers know.

usage: schemas.py PROGRAM SOURCE_ROOT"""

import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import jsonschema
import yaml

program, root = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
FORMATS = ["policy", "ceiling", "snapshot", "audit", "diff", "facts", "effects", "inventory"]
failures = []


class Loader(yaml.SafeLoader):
    """Scalars as our reader takes them: `off` is a word, only true, false, null and integers are more than text."""


Loader.yaml_implicit_resolvers = {}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), "tf")
Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile("^(0|[1-9][0-9]*)$"), "0123456789")
Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile("^(null|~|)$"), ["n", "~", ""])


def check(condition, what):
    if not condition:
        failures.append(what)


def run(*arguments, ok=(0, 1), **more):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, **more)
    check(done.returncode in ok, f"{arguments}: status {done.returncode}: {done.stderr}")
    return done.stdout


validators = {}
for name in FORMATS:
    schema = json.loads(run("schema", name))
    check(schema == json.loads((root / "src/formats/schemas" / f"{name}.json").read_text()), f"{name}: not the file")
    jsonschema.Draft202012Validator.check_schema(schema)
    validators[name] = jsonschema.Draft202012Validator(schema)


def fits(name, value, what):
    for error in validators[name].iter_errors(value):
        failures.append(f"{what} does not fit {name}: {error.json_path}: {error.message[:300]}")


def refused(name, value, what):
    check(not validators[name].is_valid(value), f"{what} fits {name}")


# ---- what is shipped ----
read = lambda path: yaml.load(path.read_text(), Loader)
policies = sorted((root / "policies").glob("*.yaml"))
check(len(policies) >= 4, "no policies found")
for path in [*policies, root / "tests/formats/data/explicit.yaml"]:
    policy = read(path)
    fits("policy", policy, path.name)
    refused("policy", {**policy, "extra": 1}, f"{path.name} with a key more")
for path in (root / "policies").glob("*.catalog.json"):
    snapshot = json.loads(path.read_text())
    fits("snapshot", snapshot, path.name)
    for member in snapshot:
        if member not in ("policy", "prompts", "resources", "resource_templates"):
            refused("snapshot", {key: value for key, value in snapshot.items() if key != member}, f"{path.name} without {member}")
refused("policy", read(root / "tests/formats/data/faulty.yaml"), "faulty.yaml")
refused("ceiling", read(root / "tests/formats/data/ceiling-faulty.yaml"), "ceiling-faulty.yaml")
for block in re.findall(r"```yaml\n(.*?)```", (root / "docs/formats/ceiling.md").read_text(), re.S):
    fits("ceiling", yaml.load(block, Loader), "the example of ceiling.md")

# ---- what is written ----
with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder)
    environment = {"HOME": folder, "PATH": "/usr/bin:/bin"}
    before = {"tools": [{"name": "t", "inputSchema": {"required": ["a"]}}, {"name": "gone"}]}
    after = {"tools": [{"name": "t", "inputSchema": {"required": ["b"]}, "annotations": {"readOnlyHint": True}}, {"name": "new"}]}
    (place / "before.json").write_text(json.dumps(before))
    (place / "after.json").write_text(json.dumps(after))
    diff = json.loads(run("diff", str(place / "before.json"), str(place / "after.json"), "--format", "json", env=environment))
    fits("diff", diff, "a diff")
    check(diff["drifted"] and diff["changes"], "the diff shows nothing")
    # A report that others read: SARIF by its own schema, also with names and texts that try to break it.
    sarif_schema = json.loads((root / "tests/data/sarif/sarif-2.1.0.json").read_text())
    sarif = jsonschema.Draft4Validator(sarif_schema)
    hostile = "\x1b[31m</a>\"'&\u202e\U000e0041\n::error::x" + "x" * 5000
    (place / "hostile.json").write_text(
        json.dumps({"tools": [{"name": hostile, "description": hostile, hostile: {hostile: [hostile]}}, {"name": "t", "description": hostile + "\ud83d"}]})
    )
    (place / "empty.json").write_text('{"tools": []}')
    results = 0
    for one, other in [("before", "after"), ("before", "hostile"), ("hostile", "after"), ("before", "before"), ("empty", "hostile")]:
        report = run("diff", str(place / f"{one}.json"), str(place / f"{other}.json"), "--format", "sarif", env=environment)
        value = json.loads(report)
        results += sum(len(entry["results"]) for entry in value["runs"])
        for error in sarif.iter_errors(value):
            failures.append(f"SARIF of {one} and {other}: {list(error.path)}: {error.message[:300]}")
        check(not sarif.is_valid({**value, "version": "2.0.0"}), "the SARIF schema takes anything")
    check(results >= 6, f"only {results} results in all SARIF reports")
    # The configs of clients, with names that try to break the reports.
    (place / ".cursor").mkdir()
    servers = {hostile: {"command": "npx", "args": ["-y", hostile], "env": {hostile: "x", "API_KEY": "hunter2"}}, "\ud83d": {"url": "https://x.example"}}
    (place / ".cursor/mcp.json").write_text(json.dumps({"mcpServers": servers}))
    (place / ".gemini").mkdir()
    (place / ".gemini/settings.json").write_text("{")
    inventory = json.loads(run("inventory", "--format", "json", env=environment, cwd=folder))
    fits("inventory", inventory, "an inventory")
    check(len(inventory["servers"]) == 2 and len(inventory["files"]) == 2, "the inventory is not whole")
    listed = json.loads(run("inventory", "--format", "sarif", env=environment, cwd=folder))
    check(len(listed["runs"][0]["results"]) >= 4, "the SARIF of inventory says too little")
    for error in sarif.iter_errors(listed):
        failures.append(f"SARIF of inventory: {list(error.path)}: {error.message[:300]}")
    # JUnit by the schema that Jenkins publishes; there is no standard.
    junit_schema = root / "tests/data/junit/jenkins-junit.xsd"
    def junit_faults(text):
        (place / "report.xml").write_text(text)
        done = subprocess.run(["xmllint", "--noout", "--schema", junit_schema, place / "report.xml"], capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else done.stderr[:500]

    for one, other in [("before", "after"), ("before", "hostile"), ("hostile", "after"), ("before", "before"), ("empty", "hostile")]:
        report = run("diff", str(place / f"{one}.json"), str(place / f"{other}.json"), "--format", "junit", env=environment)
        faults = junit_faults(report)
        check(not faults, f"JUnit of {one} and {other}: {faults}")
        check(junit_faults(report.replace("<testcase ", "<case ", 1).replace("</testcase>", "</case>", 1)), "the JUnit schema takes anything")
    tools = [{"name": name, "inputSchema": {"properties": {"mode": {"enum": ["get", "delete"]}, "savePath": {"type": "string"}}}} for name in ("run_it", hostile)]
    (place / "tools.json").write_text(json.dumps({"tools": tools}))
    for name in ("tools", "hostile", "empty"):
        effects = json.loads(run("effects", str(place / f"{name}.json"), "--format", "json", env=environment))
        fits("effects", effects, f"effects of {name}")
        for tool in effects["tools"]:
            refused("effects", {**effects, "tools": [{**tool, "effect": "harmless"}]}, "an effect class that there is not")
    policy = place / "one.yaml"
    policy.write_text("version: 1\nserver: one\nlaunch: {command: [/bin/true]}\n")
    facts = run("facts", "--policy", str(policy), env=environment)
    fits("facts", json.loads(facts or "{}"), "facts")
    # A start that is refused, since nothing was reviewed, is written down as well.
    run("run", "--policy", str(policy), env=environment, input="", ok=range(64, 100))
    logs = list(place.glob(".local/state/mcp-cordon/audit/one/*.jsonl"))
    check(logs, "there is no audit log")
    for log in logs:
        records = [json.loads(line) for line in log.read_text().splitlines()]
        check(records, "the audit log is empty")
        for record in records:
            fits("audit", record, f"the audit record {record.get('event')}")
            broken = copy.deepcopy(record)
            broken["hash"] = "sha256:"
            refused("audit", broken, "a record with half a hash")

# ---- what the readers know ----


def keys_in(schema):
    """Path of each section -> its keys."""
    found = {}

    def walk(node, path):
        if isinstance(node, dict):
            if "properties" in node:
                found.setdefault(path, set()).update(node["properties"])
                for key, value in node["properties"].items():
                    walk(value, f"{path}.{key}".lstrip("."))
            if "items" in node:
                walk(node["items"], path)
            for value in node.get("anyOf", []):
                walk(value, path)

    walk(schema, "")
    return found


known = keys_in(validators["policy"].schema)
sections = 0
for source in [root / "src/formats/policy_yaml.cpp", *sorted((root / "src/formats/policy").glob("*.cpp"))]:
    for path, keys in re.findall(r'Section\s+\w+\(\s*faults,\s*[\w>.*-]+,\s*"([\w.]*)",\s*\{([^{}]*)\}', source.read_text()):
        names = set(re.findall(r'"(\w+)"', keys))
        if not names:
            continue
        sections += 1
        check(path in known and names == known[path], f"{source.name}: section '{path}' reads {sorted(names)}, the schema has {sorted(known.get(path, []))}")
check(sections >= 12, f"only {sections} sections were found in the reader")

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
