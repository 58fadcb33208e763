# SPDX-License-Identifier: Apache-2.0
"""Small kernels whose waits are known: every instruction that waits names, by label, those that it can wait for. walk() goes through the
control flow as a warp would and finds the same from the scoreboards alone: a program that states something else is refused."""
import sass

ALWAYS, P0, NOT_P0 = 7, 0, 8
MOST_PENDING = 12  # of one scoreboard on a walk


class Inst:
    """op: of sass.OPS. stall, writes, reads, waits: control codes. target: a label; of BRX its table of labels. after: {reason: labels of its producers}.
    line: of the source; inlined: (name, line) of each function that was inlined there, outermost first. times: executions per warp."""

    def __init__(self, op, regs=(), line=1, label=None, stall=4, writes=sass.NONE, reads=sass.NONE, waits=(), guard=ALWAYS, target=None,
                 number=0, counter=0, after=None, inlined=(), times=1):
        self.op, self.regs, self.line, self.label, self.stall, self.writes, self.reads = op, regs, line, label, stall, writes, reads
        self.waits, self.guard, self.target, self.number, self.counter = tuple(waits), guard, target, number, counter
        self.after, self.inlined, self.times = after or {}, inlined, times


class Function:
    """name: mangled; local: functions that lie in the same section after its own code: [(name, index of the first instruction)]."""

    def __init__(self, name, insts, local=(), regs=32, shared=0):
        self.name, self.insts, self.local, self.regs, self.shared = name, insts, list(local), regs, shared
        self.labels = {i.label: n for n, i in enumerate(insts) if i.label}

    @property
    def size(self):
        return 16 * len(self.insts)

    def code(self, addresses):
        """Bytes; addresses: {function: load address} for calls between sections."""
        out = b""
        for n, i in enumerate(self.insts):
            target = None
            if i.target is not None and i.op not in ("BRX", "CALL.RELOCATED"):
                target = addresses[i.target] if i.op == "CALL.ABS" else 16 * self.labels[i.target]
            out += sass.encode(i, 16 * n, target)
        return out


def pending_of(inst, state):
    """Labels that this instruction waits for in this state, by scoreboard; and the state after the wait."""
    boards, found = list(state), {}
    for k in inst.waits:
        found[k] = [p for group in boards[k] for p in group]
        boards[k] = ()
    if inst.op == "DEPBAR.LE":
        k, left = inst.counter, inst.number
        done = boards[k][:len(boards[k]) - left] if left else boards[k]
        found[k] = [p for group in done for p in group]
        boards[k] = boards[k][len(done):]
    return found, tuple(boards)


def issue(label, inst, state, copies):
    """The state after it was issued; copies: LDGSTS since the last group."""
    boards = list(state)
    if inst.op == "LDGSTS" and inst.reads == sass.NONE:
        return tuple(boards), copies + (label,)
    for k in {inst.writes, inst.reads} - {sass.NONE}:
        group = copies if inst.op == "LDGDEPBAR" else (label,)
        rest = tuple(g for g in boards[k] if g != group) if inst.op != "LDGDEPBAR" else boards[k]
        boards[k] = (rest + (group,))[-MOST_PENDING:]
    return tuple(boards), () if inst.op == "LDGDEPBAR" else copies


def next_of(functions, place, inst, stack):
    """Where a warp goes: [(place, stack)]; a place is (function, index)."""
    name, n = place
    f = functions[name]
    there = [((name, n + 1), stack)] if n + 1 < len(f.insts) else []
    if inst.op == "EXIT":
        return there if inst.guard != ALWAYS else []
    if inst.op == "BRA":
        to = [((name, f.labels[inst.target]), stack)]
        return to + there if inst.guard != ALWAYS else to
    if inst.op == "BRX":
        return [((name, f.labels[t]), stack) for t in inst.target]
    if inst.op.startswith("CALL."):
        to = (inst.target, 0) if inst.op != "CALL.REL" else (name, f.labels[inst.target])
        return [(to, stack + ((name, n + 1),))]
    if inst.op == "RET":
        return [(stack[-1], stack[:-1])] if stack else []
    return there


def walk(functions, kernel):
    """{(function, index): {scoreboard: set of (function, index)}} of all waits on all ways; labels are places here."""
    functions = {f.name: f for f in functions}
    found, seen = {}, set()
    todo = [((kernel, 0), ((),) * 6, (), ())]
    while todo:
        item = todo.pop()
        if item in seen:
            continue
        seen.add(item)
        place, state, copies, stack = item
        inst = functions[place[0]].insts[place[1]]
        waits, state = pending_of(inst, state)
        for k, who in waits.items():
            found.setdefault(place, {}).setdefault(k, set()).update(who)
        state, copies = issue(place, inst, state, copies)
        todo += [(to, state, copies, s) for to, s in next_of(functions, place, inst, stack)]
    return found


SCOREBOARD = ("long_scoreboard", "short_scoreboard")


def stated(functions, f, inst, reasons=SCOREBOARD):
    """The places that an instruction of f says it waits for; "other::label" is in another function."""
    by_name = {g.name: g for g in functions}
    places = set()
    for who in (who for reason in reasons for who in inst.after.get(reason, ())):
        name, label = who.split("::") if "::" in who else (f.name, who)
        places.add((name, by_name[name].labels[label]))
    return places


def check(functions, kernel):
    """The stated producers are those of the scoreboards. A warp in DEPBAR is sampled at the next instruction, so that one states it."""
    found = walk(functions, kernel)
    for f in functions:
        for n, i in enumerate(f.insts):
            if i.op == "DEPBAR.LE":
                continue
            at = [(f.name, n)] + ([(f.name, n - 1)] if n and f.insts[n - 1].op == "DEPBAR.LE" else [])
            want = {p for place in at for who in found.get(place, {}).values() for p in who}
            got = stated(functions, f, i)
            if got != want:
                raise ValueError(f"{f.name}+{16 * n:#x} {i.op}: states {sorted(got)}, scoreboards say {sorted(want)}")
