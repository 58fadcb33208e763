# SPDX-License-Identifier: Apache-2.0
"""The Perfetto export by a reader of its own: protoc decodes it, packets are replayed sequence by sequence as the format's rules say, and
the slices on the tracks must add up to what `waves` and `hot` say, to the cycle."""
import collections

from common import decode, number, text

INSIDE = ("state", "wave")


class Reader:
    """Tracks with their slices, and what is wrong with the packets."""

    def __init__(self, path):
        self.tracks, self.slices, self.counters, self.notes = {}, [], collections.Counter(), []
        self.bad, self.flows, self.flow_ends = [], collections.Counter(), collections.Counter()
        self.sequences, self.open, self.n_dropped = {}, collections.defaultdict(list), 0
        events = []
        for packet in decode("perfetto.proto", "Trace", path)["packet"]:
            self.packet(packet, events)
        for at, _, uuid, event, state in sorted(events, key=lambda e: e[:2]):
            self.event(at, uuid, event, state)
        self.bad += [f"track {uuid} ends open" for uuid, stack in self.open.items() if stack]

    def packet(self, packet, events):
        sequence = number(packet, "trusted_packet_sequence_id")
        if packet["track_descriptor"]:
            d = packet["track_descriptor"][0]
            uuid, parent = number(d, "uuid"), number(d, "parent_uuid")
            if uuid in self.tracks or (parent and parent not in self.tracks):
                self.bad.append(f"track {uuid}: twice, or before its parent")
            self.tracks[uuid] = (parent, text(d, "name"))
            return
        flags = number(packet, "sequence_flags", 0)
        if flags & 1:
            known = self.sequences.get(sequence)
            if packet["previous_packet_dropped"]:
                self.n_dropped += 1
            elif known or packet["first_packet_on_sequence"] != ["true"]:
                self.bad.append(f"sequence {sequence} begins twice")
            self.sequences[sequence] = self.begin(packet)
        state = self.sequences.get(sequence)
        if state is None:
            self.bad.append(f"sequence {sequence}: state was never cleared")
            return
        for interned in packet["interned_data"]:
            for kind in ("event_categories", "event_names", "debug_annotation_names", "source_locations"):
                for entry in interned[kind]:
                    state[kind][number(entry, "iid")] = entry
        if packet["track_event"]:
            at = number(packet, "timestamp")
            if state["incremental"]:
                at = state["at"] = state["at"] + at
            event = packet["track_event"][0]
            events.append((at, len(events), number(event, "track_uuid", state["uuid"]), event, state))

    @staticmethod
    def begin(packet):
        state = collections.defaultdict(dict)
        state["incremental"], state["at"], state["uuid"] = False, 0, None
        for defaults in packet["trace_packet_defaults"]:
            state["incremental"] = number(defaults, "timestamp_clock_id") == 64
            state["uuid"] = number(defaults["track_event_defaults"][0], "track_uuid")
            clocks = {number(c, "clock_id"): c for c in packet["clock_snapshot"][0]["clocks"]}
            state["at"] = number(clocks[64], "timestamp")
            assert clocks[64]["is_incremental"] == ["true"] and number(clocks[6], "timestamp") == state["at"]
        return state

    def event(self, at, uuid, event, state):
        kind = event["type"][0]
        if uuid not in self.tracks:
            self.bad.append(f"event on track {uuid}, which nothing describes")
            return
        if kind == "SLICE_END":
            if not self.open[uuid]:
                self.bad.append(f"track {self.name(uuid)}: an end without a begin")
                return
            s = self.open[uuid].pop()
            s["dur"] = at - s["start"]
            self.slices.append(s)
        elif kind == "SLICE_BEGIN":
            try:
                s = {"track": uuid, "start": at, "name": text(state["event_names"][number(event, "name_iid")], "name"),
                     "category": text(state["event_categories"][number(event, "category_iids")], "name"), "source": None}
                for a in event["debug_annotations"]:
                    s[text(state["debug_annotation_names"][number(a, "name_iid")], "name")] = number(a, "int_value", number(a, "uint_value"))
                if event["source_location_iid"]:
                    at = state["source_locations"][number(event, "source_location_iid")]
                    s["source"] = f"{text(at, 'file_name')}:{number(at, 'line_number')}"
            except KeyError as wrong:
                self.bad.append(f"{wrong} is not interned in its sequence")
                return
            self.open[uuid].append(s)
            self.flows.update(event["flow_ids"])
            self.flow_ends.update(event["terminating_flow_ids"])
        elif kind == "COUNTER":
            self.counters[self.name(uuid)] += 1
        else:
            self.notes.append(text(event, "name"))

    def name(self, uuid):
        parent, name = self.tracks[uuid]
        return (self.name(parent) + "/" if parent else "") + name.split(",")[0]


def check_waves(results, program, capture, reader, words):
    # (time windows cut instructions that started before them: then only the lives of waves are compared)
    is_cut = "--from" in words
    rename = {"--until": "--to"}
    words = [rename.get(w, w) for w in words]
    got, states = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    for s in reader.slices:
        track = reader.name(s["track"])
        if s["category"] == "state":
            states[track.rsplit("/", 1)[0]][s["name"]] += s["dur"]
        elif s["category"] == "wave":
            got[track]["duration"] += s["dur"]
        else:
            got[track].update({"busy": s["dur"], "instructions": 1})
    answer = program.data("waves", "--top", "all", capture, *words)
    for w in answer["waves"]:
        track = "/".join(f"{level} {w[level]}" for level in ("se", "cu", "simd", "slot", "wave"))
        results.equal(got[track]["duration"], w["duration"], f"{capture}: life of {track}")
        if not is_cut:
            results.equal(got[track]["busy"], w["duration"] - w["accounting"]["idle"], f"{capture}: cycles of {track}")
        results.equal(got[track]["instructions"], w["instructions"], f"{capture}: instructions of {track}")
        for state, cycles in w["states"].items():
            results.equal(states[track][state], cycles, f"{capture}: {state} of {track}")
    results.equal(len(got), len(answer["waves"]), f"{capture}: waves")
    if is_cut:
        return
    for by, key in (("instr", "row"), ("class", "category")):
        sums = collections.Counter()
        for s in reader.slices:
            if s["category"] not in INSIDE:
                sums[s.get(key)] += s["dur"]
        hot = program.data("hot", "--by", by, "--top", "all", capture, *words)
        want = {r["row"] if by == "instr" else r["key"]: r["cycles"] - r["buckets"]["idle"] for r in hot["rows" if by == "instr" else "groups"]}
        results.equal({k: v for k, v in sums.items() if v}, {k: v for k, v in want.items() if v}, f"{capture}: cycles by {by}")


def check_pipes(results, program, capture, reader):
    got = collections.defaultdict(collections.Counter)
    for s in reader.slices:
        track = reader.name(s["track"]).split(" #")[0]
        is_sync = s["category"] in ("FLAG-set", "FLAG-wait", "SYNC")
        got[track].update({"sync": 1} if is_sync else {"work": 1, "latency": s["dur"] - s.get("stall", 0)})
    for p in program.data("waves", "--top", "all", capture)["pipes"]:
        track = f"{p['core']}/{p['pipe']}"
        results.equal((got[track]["latency"], got[track]["work"], got[track]["sync"]),
                      (p["latency_sum"], p["instructions"], p["sync_instructions"]), f"{capture}: {track}")


def check(results, program, capture, *words):
    path, said = program.export("perfetto", capture, *words)
    reader = Reader(path)
    results.equal(reader.bad[:3], [], f"{capture}: packets")
    results.equal(sum(s["category"] not in INSIDE for s in reader.slices), said["instructions"], f"{capture}: instructions")
    results.equal((sum(reader.flows.values()), set(reader.flows) == set(reader.flow_ends), max(reader.flows.values(), default=1)),
                  (said["links"], True, 1), f"{capture}: flows")
    results.check(sum(n for name, n in reader.counters.items() if not name.endswith("running waves")) == said["counter_samples"],
                  f"{capture}: counter samples")
    for cut in said["left_out"]:
        results.check(any(note.startswith(cut["what"]) for note in reader.notes), f"{capture}: {cut['what']} is not told in the file")
    if any(reader.name(s["track"]).startswith("core") for s in reader.slices):
        if not words:
            check_pipes(results, program, capture, reader)
    else:
        check_waves(results, program, capture, reader, words)
    return reader


def run(results, program):
    for capture in ("two_waves", "inline", "gemm", "throttled", "v31", "gfx12", "sqtt_gfx9", "early_exit", "ascend_matmul", "ascend_waiting"):
        check(results, program, capture)
    check(results, program, "gemm", "--simd", "1-2")
    check(results, program, "gemm", "--from", "500", "--until", "1500")
    reader = check(results, program, "bad_wave")
    results.check(reader.n_dropped > 0 and reader.notes, "bad_wave: the loss is not told")
    check(results, program, "ascend_matmul", "--from", "500", "--until", "1000")
    one, two = (program.export("perfetto", "gemm", jobs)[0] for jobs in ("-j1", "-j2"))
    with open(one, "rb") as a, open(two, "rb") as b:
        results.check(a.read() == b.read(), "-j1 and -j2 give other bytes")
