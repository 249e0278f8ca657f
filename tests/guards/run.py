#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that each case of the adversarial suite fails when the guard that it tests is switched off.

usage: run.py --table SOURCE_ROOT              is the table up to date? Needs no build
       run.py [--only WORD] BUILD SOURCE_ROOT  the proof; the last line is `N passed, N failed`

table/*.toml lists the guards: where each stands, the exact piece of source, and what stands there when it is off. The
program itself has no such switch. One guard at a time is switched off in a copy of its source file; that file alone is
compiled, without optimization, and linked with what the build has of all others; then each of the named cases has to
fail, by its own checks and not by a crash. The tree is not touched.
"""
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TEST = 'tests/guards/guards-test'
CASE_SECONDS = 60


class Stale(Exception):
    """The table does not fit the sources."""


def edits_of(guard):
    return guard.get('edits') or [{key: guard[key] for key in ('file', 'piece', 'off')}]


def load(root):
    guards = []
    for path in sorted((root / 'tests/guards/table').glob('*.toml')):
        for guard in tomllib.loads(path.read_text(encoding='utf-8'))['guard']:
            guard['at'] = f"{path.name}: {guard['name']}"
            guards.append(guard)
    return guards


def switched_off(root, guard):
    """The changed sources: {path below the root: text}."""
    changed = {}
    for edit in edits_of(guard):
        text = changed.get(edit['file']) or (root / edit['file']).read_text(encoding='utf-8')
        count = text.count(edit['piece'])
        if count != 1:
            raise Stale(f"the piece stands {count} times in {edit['file']}, not once:\n{edit['piece']}")
        if edit['piece'] == edit['off'] or not edit['file'].endswith('.cpp'):
            raise Stale('a piece and what stands in its place have to differ, and to be of a .cpp file')
        changed[edit['file']] = text.replace(edit['piece'], edit['off'])
    return changed


def cases_of(root):
    """Names of all cases of the suite, and the scenarios of its own that they run."""
    names = []
    files = []
    for path in sorted((root / 'tests/guards').glob('*_test.cpp')):
        text = path.read_text(encoding='utf-8')
        for name, file in re.findall(r'^ADVERSARY\("([^"]+)",\s*"([^"]+)"', text, re.M):
            names.append('adversary: ' + name)
            files.append(file)
        names += re.findall(r'^TEST_CASE\("([^"]+)"', text, re.M)
    return names, files


def check_table(root):
    guards = load(root)
    names, files = cases_of(root)
    problems = []
    guarded = set()
    for guard in guards:
        guarded.update(guard['cases'])
        try:
            switched_off(root, guard)
        except (Stale, OSError) as stale:
            problems.append(f"{guard['at']}: {stale}")
        problems += [f"{guard['at']}: there is no case {case!r}" for case in guard['cases'] if case not in names]
        if not guard['cases']:
            problems.append(f"{guard['at']}: no case tests it")
    for twice in {one for one in names if names.count(one) > 1}:
        problems.append(f'{twice!r} names two cases')
    for name in names:
        if name not in guarded:
            problems.append(f'no guard is known whose absence lets {name!r} fail')
    all_guards = [guard['name'] for guard in guards]
    for twice in {one for one in all_guards if all_guards.count(one) > 1}:
        problems.append(f'{twice!r} names two guards')
    for file in files:
        if not (root / file).is_file():
            problems.append(f'{file} is not there')
    for path in sorted((root / 'tests/guards/cases').glob('*.txt')):
        if str(path.relative_to(root)) not in files:
            problems.append(f'{path.relative_to(root)} is run by no case')
    for problem in problems:
        print(problem)
    if not problems:
        print(f'{len(guards)} guards, {len(names)} cases')
    return not problems


class Builder:
    """Compiles single changed sources and links them with the objects of a build."""

    def __init__(self, build, root):
        self.build = build
        self.commands = {}
        self.common = []
        for entry in json.loads((build / 'compile_commands.json').read_text(encoding='utf-8')):
            path = os.path.relpath(os.path.join(entry['directory'], entry['file']), root)
            self.commands.setdefault(path, shlex.split(entry['command']))
        listed = subprocess.run(['ninja', '-C', str(build), '-t', 'commands', TEST], check=True, capture_output=True, text=True)
        self.link = shlex.split([line for line in listed.stdout.splitlines() if f'-o {TEST} ' in line][-1])

    def prepare(self, folder):
        """The header that most of the time goes into, compiled once."""
        folder.mkdir(parents=True, exist_ok=True)
        common = folder / 'common.hpp'
        common.write_text('#include "core/gate/session_state.hpp"\n', encoding='utf-8')
        self.compile('src/core/gate/calls.cpp', common, folder / 'common.hpp.gch', ['-x', 'c++-header'])
        self.common = ['-include', str(common)]

    def compile(self, path, source, target, more):
        command = []
        skip = 0
        for word in self.commands[path]:
            if word.endswith('ccache') and not command:
                continue  # what is compiled here is not compiled again
            if skip:
                skip -= 1
            elif word in ('-MQ', '-MF', '-o', '-c'):
                skip = 1
            elif word not in ('-MD', '-Werror') and not re.match(r'-(O|g)[0-9a-z]*$', word):
                command.append(word)
        command += ['-O0', '-g0', '-w', *more, '-o', str(target), '-c', str(source)]
        self.run(command)

    def link_with(self, objects, target):
        command = list(self.link)
        at = command.index('-o')
        # In front of the archives: their members of the same names are then not taken.
        command[at:at + 2] = ['-o', str(target), '-Wl,--strip-all'] + [str(one) for one in objects]
        self.run(command)

    def run(self, command):
        done = subprocess.run(command, cwd=self.build, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Stale('it does not build:\n' + (done.stdout + done.stderr)[-4000:])


def run_case(program, case):
    """'passed', 'failed', or what else became of it; and what it printed."""
    escaped = case.replace('\\', '\\\\').replace(',', '\\,')
    try:
        done = subprocess.run([str(program), '--no-colors=true', f'--test-case={escaped}'], capture_output=True, text=True,
                              errors='replace', timeout=CASE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return 'hung', ''
    counts = re.search(r'test cases: +(\d+) \| +(\d+) passed \| +(\d+) failed', done.stdout)
    if not counts or counts.group(1) != '1':
        return 'was not found', done.stdout
    if 'CRASHED' in done.stdout or 'terminate called' in done.stderr or done.returncode < 0:
        return 'crashed', done.stdout + done.stderr
    return ('passed' if done.returncode == 0 else 'failed'), done.stdout


def prove(builder, root, folder, guard):
    """Problems; empty when each case fails without the guard."""
    try:
        changed = switched_off(root, guard)
        folder.mkdir(parents=True, exist_ok=True)
        objects = []
        for path, text in changed.items():
            source = folder / Path(path).name
            source.write_text(text, encoding='utf-8')
            objects.append(source.with_suffix('.o'))
            builder.compile(path, source, objects[-1], builder.common if path.startswith('src/core/gate/') else [])
        program = folder / 'guards-test'
        builder.link_with(objects, program)
    except (Stale, OSError, KeyError) as stale:
        return [f'the table is stale: {stale}']
    problems = []
    for case in guard['cases']:
        what, printed = run_case(program, case)
        if what != 'failed':
            problems.append(f'{case!r} {what} without it' + ('' if what == 'passed' else f':\n{printed[-2000:]}'))
    if not problems:
        shutil.rmtree(folder)
    return problems


def prove_all(build, root, only):
    builder = Builder(build, root)
    guards = [guard for guard in load(root) if only in guard['at']]
    passed = failed = 0
    for case in sorted({case for guard in guards for case in guard['cases']}):
        what, printed = run_case(build / TEST, case)
        if what == 'passed':
            passed += 1
        else:
            failed += 1
            print(f'FAILED {case!r} {what} with all guards on:\n{printed[-4000:]}')
    if failed:
        print(f'{passed} passed, {failed} failed')
        return False  # what fails anyway proves nothing
    print(f'{passed} cases hold with all guards on')
    began = time.monotonic()
    off = build / 'tests/guards/off'
    shutil.rmtree(off, ignore_errors=True)
    builder.prepare(off)
    jobs = os.cpu_count() or 2

    def one(guard):
        start = time.monotonic()
        folder = off / re.sub(r'[^a-z0-9]+', '-', guard['name'].lower())
        return guard, prove(builder, root, folder, guard), time.monotonic() - start

    with ThreadPoolExecutor(max_workers=min(jobs, 8)) as pool:
        for guard, problems, seconds in pool.map(one, guards):
            if problems:
                failed += 1
                print(f"FAILED {guard['at']}: " + '\n  '.join(problems), flush=True)
            else:
                passed += 1
                print(f"ok {seconds:4.1f} s  {guard['at']} ({len(guard['cases'])})", flush=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f'{len(guards)} guards switched off, one at a time, in {time.monotonic() - began:.0f} s, '
          f'{used.ru_utime + used.ru_stime:.0f} s of processor time')
    print(f'{passed} passed, {failed} failed')
    return failed == 0 and passed > 0


def main(arguments):
    if len(arguments) == 2 and arguments[0] == '--table':
        return check_table(Path(arguments[1]).resolve())
    only = ''
    if arguments[:1] == ['--only']:
        only = arguments[1]
        arguments = arguments[2:]
    if len(arguments) != 2:
        print(__doc__)
        return False
    return prove_all(Path(arguments[0]).resolve(), Path(arguments[1]).resolve(), only)


if __name__ == '__main__':
    sys.exit(0 if main(sys.argv[1:]) else 1)
