# SPDX-License-Identifier: Apache-2.0
"""Suites side by side: a suite starts when what it needs is done and a core is free, the longest first. What a suite prints is kept
and printed whole when it ends. Children are counted with wait4, so that the seconds of work are known on a busy machine, too.
"""
import os
import queue
import re
import signal
import subprocess
import tempfile
import threading
import time

LIMIT_S = 3600  # no child takes that long; one that hangs shall not hold up the others
LIVE = set()  # process groups of children that run


class Result:
    """Counts, text and seconds of one suite; filled by the thread that runs it."""

    def __init__(self, name, cores=1):
        self.name, self.cores, self.counts, self.text = name, cores, [0, 0, 0], ""  # counts: passed, failed, skipped
        self.cpu_s, self.wall_s = 0.0, 0.0

    def add(self, passed, failed, skipped, text=""):
        self.counts = [a + b for a, b in zip(self.counts, (passed, failed, skipped))]
        if failed:
            self.text += text.rstrip()[-60000:] + "\n"

    def call(self, words, cwd, env=None, limit_s=LIMIT_S):
        """Exit status and output of a child, which has its own session: nothing of it is left when it has to be stopped. JOBS tells
        it how many cores it may keep busy."""
        with tempfile.TemporaryFile() as out:
            full = {**os.environ, "JOBS": str(max(1, self.cores)), **(env or {})}
            p = subprocess.Popen(words, cwd=cwd, env=full, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                 start_new_session=True)
            LIVE.add(p.pid)
            timer = threading.Timer(limit_s, os.killpg, (p.pid, signal.SIGKILL))
            timer.start()
            _, status, usage = os.wait4(p.pid, 0)
            timer.cancel()
            LIVE.discard(p.pid)
            p.returncode = os.waitstatus_to_exitcode(status)
            self.cpu_s += usage.ru_utime + usage.ru_stime
            out.seek(0)
            text = out.read().decode(errors="replace")
        return p.returncode, text

    def line(self):
        passed, failed, skipped = self.counts
        return (f"{'FAIL' if failed else 'ok  '} {self.name:<24} {passed} passed, {failed} failed, {skipped} skipped"
                f"  ({self.wall_s:.1f} s, cpu {self.cpu_s:.1f} s)")


class Suite:
    """name; run(result); needs: names of suites that come first; cost_s: seconds of work, measured; cores: how many it
    keeps busy, 0 where it mostly waits."""

    def __init__(self, name, run, needs=(), cost_s=1, cores=1):
        self.name, self.run, self.needs, self.cost_s, self.cores = name, run, needs, cost_s, cores


def stop_all():
    for group in list(LIVE):
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            pass


def urgency(suites):
    """Seconds from the start of a suite to the end of the longest chain that waits for it."""
    memo = {}

    def of(suite):
        if suite.name not in memo:
            memo[suite.name] = suite.cost_s + max([of(s) for s in suites if suite.name in s.needs], default=0)
        return memo[suite.name]
    return {s.name: of(s) for s in suites}


def work(suite, cores, done):
    result, started = Result(suite.name, cores), time.time()
    try:
        suite.run(result)
    except Exception as e:  # pylint: disable=broad-except  # a suite that cannot run has failed, the others go on
        result.add(0, 1, 0, f"{type(e).__name__}: {e}")
    result.wall_s = time.time() - started
    done.put((suite, result))


def tell(result):
    if result.text.strip():
        print(result.text.rstrip())
    print(result.line(), flush=True)


def run_all(suites, cores):
    """Results of all suites, as they end. One whose needs failed is not started and counts as failed."""
    order = urgency(suites)
    waiting = sorted(suites, key=lambda s: -order[s.name])
    names, ended, results, done, free, running = {s.name for s in suites}, {}, [], queue.Queue(), cores, 0
    while waiting or running:
        for suite in list(waiting):
            needs = [n for n in suite.needs if n in names]
            if not all(n in ended for n in needs):
                continue
            if not all(ended[n] for n in needs):
                result = Result(suite.name)
                result.add(0, 1, 0, f"not run: {' '.join(n for n in needs if not ended[n])} failed")
                waiting.remove(suite)
                ended[suite.name] = False
                results.append(result)
                tell(result)
                continue
            if min(suite.cores, cores) <= free:
                waiting.remove(suite)
                given = min(suite.cores, cores) if waiting else free  # the last one has what is left
                running, free = running + 1, free - given
                threading.Thread(target=work, args=(suite, given, done), daemon=True).start()
        if running:
            suite, result = done.get()
            running, free = running - 1, free + result.cores
            ended[suite.name] = not result.counts[1]
            results.append(result)
            tell(result)
    return results


def slow_lines(results, n=10):
    slowest = sorted(results, key=lambda r: -r.wall_s)[:n]
    return [f"  {r.wall_s:7.1f} s  cpu {r.cpu_s:7.1f} s  {r.name}" for r in slowest]


def script_counts(text):
    """Of a script that ends with `N passed, N failed, N skipped`; None when it does not."""
    m = re.search(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$", text)
    return [int(x or 0) for x in m.groups()] if m else None
