/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_rules_waves.c: do wave files, manifest and occupancy describe the same waves? On the CU
 * with instruction detail every start and end event belongs to exactly one wave file, and vice
 * versa.
 */

#include "analysis/check/check_internal.h"
#include "base/file.h"
#include "base/search.h"

/* One stay of a wave in a slot of the target CU, from occupancy or from a track. */
struct stay {
	clock_idx clock;
	uint32_t simd, slot;
	uint64_t begin_cyc, end_cyc;
	bool has_end;
	track_idx track; /* NO_TRACK: from occupancy */
};

ORDER(by_place, struct stay, UP(clock) UP(simd) UP(slot) UP(begin_cyc) UP(track))

/* Orders stays by place and begin; equal ones belong together. */
static int join_cmp(const struct stay *a, const struct stay *b)
{
	struct stay x = *a, y = *b;

	x.track = y.track = 0;
	return by_place(&x, &y);
}

struct stays {
	struct stay *v;
	uint32_t n;
};

static uint64_t slot_key(const struct occupancy_event *o)
{
	return (uint64_t)o->clock << 16 | (uint64_t)o->simd << 8 | o->slot;
}

/* Pairs each start with the next end of its slot; events come sorted by time in each clock. */
static bool stays_of_occupancy(struct check *c, struct stays *out)
{
	const struct trace *t = c->trace;
	struct u64_map open = {0};
	int64_t cu = check_target_cu(c);
	bool ok = false;

	out->v = arena_zalloc(&c->arena, (size_t)t->n_occupancy + 1, sizeof(*out->v));
	if (!out->v)
		return false;
	EACH (const struct occupancy_event, o, t->occupancy, t->n_occupancy) {
		uint64_t *at;

		if (o->cu != cu)
			continue;
		at = u64_map_at(&open, slot_key(o));
		if (!at)
			goto out;
		if (o->is_start) {
			out->v[out->n++] = (struct stay){.clock = o->clock,
				.simd = o->simd,
				.slot = o->slot,
				.begin_cyc = o->time_cyc,
				.track = NO_TRACK};
			*at = out->n;
		} else if (*at) {
			out->v[*at - 1].end_cyc = o->time_cyc;
			out->v[*at - 1].has_end = true;
			*at = 0;
		}
	}
	ok = true;
out:
	u64_map_deinit(&open);
	SORT(out->v, out->n, by_place);
	return ok;
}

static bool stays_of_tracks(struct check *c, struct stays *out)
{
	const struct trace *t = c->trace;

	out->v = arena_zalloc(&c->arena, (size_t)t->n_tracks + 1, sizeof(*out->v));
	if (!out->v)
		return false;
	for (track_idx i = 0; i < t->n_tracks; i++)
		out->v[out->n++] = (struct stay){.clock = t->tracks[i].clock,
			.simd = t->tracks[i].coord[2],
			.slot = t->tracks[i].coord[3],
			.begin_cyc = t->tracks[i].begin_cyc,
			.end_cyc = t->tracks[i].end_cyc,
			.has_end = true,
			.track = i};
	SORT(out->v, out->n, by_place);
	return true;
}

struct join {
	uint64_t starts, lone_starts; /* on the target CU; those without a wave file */
	uint64_t lone_waves;	      /* wave files without a start */
	uint64_t other_ends;	      /* matched, but with another end */
	track_idx first_lone, first_other;
	struct stay first_start; /* first of lone_starts */
};

/* Newer decoders end a gfx9 wave with its last issue cycle: one quantum after the event. */
static bool same_end(const struct trace *t, uint64_t event_cyc, uint64_t wave_cyc)
{
	return event_cyc == wave_cyc ||
	       (t->meta.clock_quantum > 1 && wave_cyc == event_cyc + t->meta.clock_quantum);
}

/* Removes starts for which no wave is expected: on SIMDs that were not to be traced, and in shader
 * engines without any wave (a separate finding). gfx9 traces all SIMDs unless configured otherwise;
 * later generations trace one, known from its waves. */
static void keep_expected(struct check *c, struct stays *starts, const uint8_t *seen)
{
	uint64_t asked = check_notes(c, "traced-simds");
	uint32_t n = 0;

	for (uint32_t i = 0; i < starts->n; i++) {
		const struct stay *s = &starts->v[i];
		uint64_t mask = asked ? asked : seen[s->clock];

		if (!asked && c->trace->meta.gfx_major < 10)
			mask = UINT64_MAX;
		if (seen[s->clock] && s->simd < 64 && mask >> s->simd & 1)
			starts->v[n++] = *s;
	}
	starts->n = n;
}

static void join_waves(struct check *c, struct join *j)
{
	struct stays a = {0}, b = {0};
	uint8_t *seen = check_seen_simds(c);
	uint32_t i = 0, k = 0;

	if (!c->trace->n_occupancy || c->trace->meta.vendor != VENDOR_AMD)
		return;
	if (!seen || !stays_of_occupancy(c, &a) || !stays_of_tracks(c, &b)) {
		c->is_nomem = true;
		return;
	}
	keep_expected(c, &a, seen);
	j->starts = a.n;
	while (i < a.n || k < b.n) {
		int cmp = i == a.n ? 1 : k == b.n ? -1 : join_cmp(&a.v[i], &b.v[k]);

		if (cmp < 0) {
			if (!j->lone_starts++)
				j->first_start = a.v[i];
			i++;
		} else if (cmp > 0) {
			if (!j->lone_waves++)
				j->first_lone = b.v[k].track;
			k++;
		} else {
			if (a.v[i].has_end && !same_end(c->trace, a.v[i].end_cyc, b.v[k].end_cyc) &&
				!j->other_ends++)
				j->first_other = b.v[k].track;
			i++;
			k++;
		}
	}
}

/* Names the files of a note code: the part of its messages after the colon. */
static void put_names(const struct check *c, const char *code, struct strbuf *out)
{
	EACH (const struct note, x, c->trace->notes, c->trace->n_notes) {
		const char *names;

		if (!str_is(str_of(x->code), code))
			continue;
		names = x->message ? strstr(x->message, ": ") : NULL;
		if (names)
			sb_printf(out, "%s%s", out->n ? ", " : "", names + 2);
		else if (x->path)
			sb_printf(out, "%s%s", out->n ? ", " : "", path_base(x->path));
	}
}

static void say_missing(struct check *c, uint64_t n_absent, const struct join *j)
{
	struct finding *f = check_add(c, "missing-wave", SEVERITY_WARNING, VERDICT_SUSPECT);
	struct strbuf names = {0};

	put_names(c, "missing-wave-file", &names);
	if (n_absent)
		finding_say(c, f, "%llu listed wave file%s not there%s%s",
			(unsigned long long)n_absent, n_absent > 1 ? "s are" : " is",
			names.n ? ": " : "", check_text(c, &names));
	else
		finding_say(c, f,
			"%llu of %llu waves that started on the target CU have no wave file",
			(unsigned long long)j->lone_starts, (unsigned long long)j->starts);
	fact_int(f, "absent_files", (int64_t)n_absent);
	fact_int(f, "target_cu_starts", (int64_t)j->starts);
	fact_int(f, "starts_without_file", (int64_t)j->lone_starts);
	if (j->lone_starts)
		fact_text(c, f, "first_start", "SE%u SIMD %u slot %u cycle %llu",
			c->trace->clocks[j->first_start.clock].id, j->first_start.simd,
			j->first_start.slot, (unsigned long long)j->first_start.begin_cyc);
	finding_advise(c, f,
		"copy the whole directory again; every total is of the waves that are left (a wave without instructions is never written)");
	sb_free(&names);
}

static void say_unlisted(struct check *c, uint64_t n_stray, const struct join *j)
{
	struct finding *f = check_add(c, "unlisted-wave", SEVERITY_WARNING, VERDICT_SUSPECT);
	struct strbuf names = {0};

	put_names(c, "unlisted-wave-file", &names);
	if (n_stray)
		finding_say(c, f, "%llu wave file%s not in the manifest and left out%s%s",
			(unsigned long long)n_stray, n_stray > 1 ? "s are" : " is",
			names.n ? ": " : "", check_text(c, &names));
	else
		finding_say(c, f, "%llu %s no start event on the target CU (first: %s)",
			(unsigned long long)j->lone_waves,
			j->lone_waves == 1 ? "wave has" : "waves have",
			c->trace->tracks[j->first_lone].name);
	fact_int(f, "unlisted_files", (int64_t)n_stray);
	fact_int(f, "waves_without_start", (int64_t)j->lone_waves);
	fact_int(f, "target_cu_starts", (int64_t)j->starts);
	finding_advise(c, f,
		"files of two captures may be mixed: decode the trace again into an empty directory");
	sb_free(&names);
}

struct flaws {
	uint64_t times, coords, counts;
	track_idx first;
};

static uint64_t count_flaws(const struct check *c, struct flaws *x)
{
	const unsigned mask = FLAW_TIMES | FLAW_COORDS | FLAW_COUNT;
	uint64_t n = 0;

	for (track_idx i = 0; i < c->trace->n_tracks; i++) {
		unsigned f = c->gather->tracks[i].flaws;

		if (!(f & mask))
			continue;
		if (!n++)
			x->first = i;
		x->times += (f & FLAW_TIMES) != 0;
		x->coords += (f & FLAW_COORDS) != 0;
		x->counts += (f & FLAW_COUNT) != 0;
	}
	return n;
}

static void say_contradictions(struct check *c, const struct join *j)
{
	struct flaws x = {0};
	uint64_t n = count_flaws(c, &x);
	struct finding *f;

	if (!n && !j->other_ends)
		return;
	f = check_add(c, "inconsistent-waves", SEVERITY_WARNING, VERDICT_SUSPECT);
	finding_say(c, f,
		"%llu waves contradict the manifest and %llu end at another time than occupancy says (first: %s)",
		(unsigned long long)n, (unsigned long long)j->other_ends,
		c->trace->tracks[n ? x.first : j->first_other].name);
	fact_int(f, "other_times", (int64_t)x.times);
	fact_int(f, "other_coordinates", (int64_t)x.coords);
	fact_int(f, "other_record_counts", (int64_t)x.counts);
	fact_int(f, "other_ends_in_occupancy", (int64_t)j->other_ends);
	finding_advise(c, f,
		"files of two captures may be mixed: decode the trace again into an empty directory");
}

void rule_wave_files(struct check *c)
{
	struct join j = {0};
	uint64_t n_absent = check_notes(c, "missing-wave-file");
	uint64_t n_stray = check_notes(c, "unlisted-wave-file");
	uint64_t n_bare = check_notes(c, "waves-without-detail");

	if (check_is_sampled(c))
		return;
	join_waves(c, &j);
	/* starts that the import knows to have no instructions are not missing */
	j.lone_starts = j.lone_starts > n_bare ? j.lone_starts - n_bare : 0;
	if (n_absent || j.lone_starts)
		say_missing(c, n_absent, &j);
	if (n_stray || j.lone_waves)
		say_unlisted(c, n_stray, &j);
	say_contradictions(c, &j);
}
