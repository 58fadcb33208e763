# SPDX-License-Identifier: Apache-2.0
"""What the `rows` answers of a capture add up to, beside what `waves` says of the same tracks."""
BUCKETS = ("issue", "stall", "wait", "idle", "drain")


def rows_of(get, track):
    """Sums of all code rows of a track with what is no row's, and of the rows alone. get: answer to a question, parsed."""
    rows, rest, start, total = dict.fromkeys(BUCKETS, 0), None, 0, 1
    while start < total:
        page = get(f"rows?track={track}&from={start}&n=4000")
        for b in BUCKETS:
            rows[b] += sum(page[b])
        rest, total, start = page["rest"], page["total"], start + 4000
    return {b: rows[b] + rest[b] for b in BUCKETS}, rows


def tracks_of(get):
    tracks, start = [], 0
    while start is not None:
        page = get(f"trace?from={start}")
        tracks += page["tracks"]
        start = page["next_track"]
    return tracks


def compare_waves(get, waves, check):
    """Every wave of `waves`: what its rows cost, with what is no row's, is its accounting."""
    where = {tuple(t[0]): i for i, t in enumerate(tracks_of(get))}
    for w in waves:
        name = tuple(w[k] for k in ("se", "cu", "simd", "slot", "wave"))
        if not check(f"wave {name}: is a track", name in where, True):
            check(f"wave {name}: rows and the rest", rows_of(get, where[name])[0], {b: w["accounting"][b] for b in BUCKETS})


def compare_pipes(get, pipes, check):
    """Every pipe of `waves`: what its rows cost is its accounting, and idle and drained cycles are no row's.
    check(what, got, want) returns whether they differ."""
    where = {t[6]: i for i, t in enumerate(tracks_of(get))}
    for p in pipes:
        name = f"{p['core']}/{p['pipe']}"
        want = {b: p["accounting"][b] for b in BUCKETS}
        if check(f"{name}: is a track", name in where, True):
            continue
        both, rows = rows_of(get, where[name])
        check(f"{name}: rows and the rest", both, want)
        check(f"{name}: rows alone", rows, {**want, "idle": 0, "drain": 0})
