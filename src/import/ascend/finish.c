/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finish.c: makes the trace: converts microseconds to cycles and lanes to tracks, and sorts the
 * slices, which stay where they were read.
 *
 * Parts: what a WAIT waited for; cycles in a microsecond; core, unit and
 * pipe of a lane; the trace.
 */
#include <math.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/search.h"
#include "import/ascend/ascend.h"

/* --- what a WAIT waited for ------------------------------------------------------------------- */

/*
 * Finds the SET that a WAIT waited for. Both have the same key (the producer's id, or else core and
 * operands); the k-th SET by end time belongs to the k-th WAIT, as in the producer.
 */

static track_idx asc_track_of(const struct asc_build *b, uint32_t lane);

#define MAX_NAMED 8

enum flag_side { SIDE_SET, SIDE_WAIT, SIDE_NONE /* it only has an id */ };

/* The part of an extra that linking needs, because in key order the extras are scattered in
 * memory. */
struct flag_ref {
	uint64_t key, end;
	uint32_t extra, lane, slice;
	uint8_t side; /* enum flag_side */
	bool is_cross;
};

ORDER(flag_cmp, struct flag_ref, UP(key) UP(side) UP(end) UP(extra))

ORDER(link_cmp, struct link, UP(to_track) UP(to_slice) UP(from_track) UP(from_slice) UP(kind))

struct alone { /* flags of one side without a counterpart */
	uint64_t n;
	uint32_t first[MAX_NAMED]; /* the first extras in the file */
};

struct linker {
	struct asc_build *b;
	VEC(struct flag_ref) flags;
	struct asc_links links;
	struct alone alone[2];
};

static void add_alone(struct alone *a, uint32_t extra)
{
	size_t at = a->n < MAX_NAMED ? (size_t)a->n : MAX_NAMED;

	a->n++;
	for (; at > 0 && a->first[at - 1] > extra; at--)
		if (at < MAX_NAMED)
			a->first[at] = a->first[at - 1];
	if (at < MAX_NAMED)
		a->first[at] = extra;
}

static bool link_two(struct linker *l, const struct flag_ref *set, const struct flag_ref *wait)
{
	struct link k = {.from_track = asc_track_of(l->b, set->lane),
		.to_track = asc_track_of(l->b, wait->lane),
		.from_slice = set->slice,
		.to_slice = wait->slice,
		.kind = wait->is_cross || set->is_cross ? LINK_CROSS_CORE : LINK_FLAG};

	return VEC_PUSH(&l->links.v, k);
}

/* All flags of one key: SETs first. */
static bool link_group(struct linker *l, size_t from, size_t end)
{
	const struct flag_ref *v = l->flags.v;
	size_t waits = from, rest, pairs;

	while (waits < end && v[waits].side == SIDE_SET)
		waits++;
	for (rest = waits; rest < end && v[rest].side == SIDE_WAIT;)
		rest++;
	pairs = waits - from < rest - waits ? waits - from : rest - waits;
	for (size_t k = 0; k < pairs; k++)
		if (!link_two(l, &v[from + k], &v[waits + k]))
			return false;
	for (size_t k = from + pairs; k < waits; k++)
		add_alone(&l->alone[SIDE_SET], v[k].extra);
	for (size_t k = waits + pairs; k < rest; k++)
		add_alone(&l->alone[SIDE_WAIT], v[k].extra);
	return true;
}

/* Adds the flags that our exporter repeats for their other lines, under the keys of those. */
static bool add_again(struct linker *l)
{
	const struct asc_build *b = l->b;
	size_t n = b->again.n ? l->flags.n : 0;
	struct u64_map at = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < n; i++) {
		uint64_t *k = u64_map_at(&at, hash_mix64(l->flags.v[i].key + l->flags.v[i].side));

		ok = k != NULL;
		if (ok)
			*k = i + 1;
	}
	for (size_t i = 0; ok && i < b->again.n; i++) {
		const struct asc_again *a = &b->again.v[i];
		enum flag_side side =
			ascend_is_wait((enum ascend_sync)a->sync) ? SIDE_WAIT : SIDE_SET;
		uint64_t *k = u64_map_find(&at, hash_mix64(a->of + side));
		struct flag_ref f = {0};

		if (k) {
			f = l->flags.v[*k - 1];
			f.key = a->key;
			ok = VEC_PUSH(&l->flags, f);
		} else {
			l->b->counts[ASC_UNPAIRED]++;
		}
	}
	u64_map_deinit(&at);
	return ok;
}

static bool link_flags(struct linker *l)
{
	struct asc_build *b = l->b;

	for (size_t i = 0; i < b->extras.n; i++) {
		const struct asc_extra *x = &b->extras.v[i];
		enum ascend_sync sync = (enum ascend_sync)x->sync;
		struct flag_ref f = {.key = x->key,
			.end = x->end,
			.extra = (uint32_t)i,
			.lane = x->lane,
			.slice = x->slice,
			.side = ascend_is_set(sync)    ? SIDE_SET
				: ascend_is_wait(sync) ? SIDE_WAIT
						       : SIDE_NONE,
			.is_cross = sync == SYNC_SET_CROSS || sync == SYNC_WAIT_CROSS};

		if (x->key && x->lane != NO_TRACK && !VEC_PUSH(&l->flags, f))
			return false;
		mem_step(i);
	}
	if (!add_again(l) || !SORT_LONG(l->flags.v, l->flags.n, flag_cmp))
		return false;
	for (size_t i = 0, n = 0; i < l->flags.n; n++) {
		size_t end = i;

		mem_step(n);
		while (end < l->flags.n && l->flags.v[end].key == l->flags.v[i].key)
			end++;
		if (!link_group(l, i, end))
			return false;
		i = end;
	}
	return true;
}

/* --- flags without a counterpart --- */

static void ascend_finish_put_flag(
	const struct asc_build *b, const struct asc_extra *x, struct strbuf *out)
{
	struct ascend_flag f = ascend_flag_of(str_of(b->code.v[x->code].text));

	sb_printf(out, "%s%.*s->%.*s %.*s", out->n ? ", " : "", STR_ARG(f.producer),
		STR_ARG(f.consumer), STR_ARG(f.id));
	if (x->id.n)
		sb_printf(out, " (id %.*s)", (int)(x->id.n < 60 ? x->id.n : 60), x->id.p);
}

static bool ascend_finish_note_alone(struct asc_build *b, const struct alone *a, bool is_wait)
{
	struct strbuf names = {0};
	uint64_t n = a->n;
	bool ok = true;

	for (size_t i = 0; i < n && i < MAX_NAMED; i++)
		ascend_finish_put_flag(b, &b->extras.v[a->first[i]], &names);
	if (n)
		ok = !names.failed &&
		     trace_note(b->trace, is_wait ? "wait-without-set" : "set-without-wait",
			     b->path, INCORE_NO_OFFSET, n, "%llu %s: %s%s", (unsigned long long)n,
			     is_wait ? "flags awaited that no SET raised"
				     : "flags set that no WAIT took",
			     names.p ? names.p : "", n > MAX_NAMED ? ", ..." : "");
	sb_free(&names);
	return ok;
}

/* --- flows between ordinary slices, as cleaned files have them --- */

static uint32_t slice_at(const struct asc_build *b, track_idx track, uint64_t at)
{
	const struct track_slice *v = mem_tracks_at(b->trace, track);
	uint32_t lo = 0, hi = b->trace->tracks[track].n_slices;

	BISECT(lo, hi, i, v[i].start <= at);
	return lo ? lo - 1 : UINT32_MAX;
}

ORDER(flow_cmp, struct asc_flow, UP(key) DOWN(is_from) UP(ts))

static bool link_flow(
	struct linker *l, const struct asc_flow *from, const struct asc_flow *to, double mhz)
{
	struct link k = {.kind = LINK_FLOW};

	if (l->b->lanes.v[from->lane].unit_idx == NO_TRACK ||
		l->b->lanes.v[to->lane].unit_idx == NO_TRACK)
		return true;
	k.from_track = asc_track_of(l->b, from->lane);
	k.to_track = asc_track_of(l->b, to->lane);
	k.from_slice = slice_at(l->b, k.from_track, (uint64_t)(from->ts * mhz + 0.5));
	k.to_slice = slice_at(l->b, k.to_track, (uint64_t)(to->ts * mhz + 0.5));
	if (k.from_slice == UINT32_MAX || k.to_slice == UINT32_MAX)
		return true;
	return VEC_PUSH(&l->links.v, k);
}

/* Flows with the id of a flag repeat what the flags state. */
static bool link_flows(struct linker *l, double mhz)
{
	struct asc_build *b = l->b;
	size_t flag = 0;
	bool ok = SORT_LONG(b->flows.v, b->flows.n, flow_cmp);

	for (size_t i = 0; ok && i + 1 < b->flows.n; i++) {
		const struct asc_flow *f = &b->flows.v[i];

		mem_step(i);
		while (flag < l->flags.n && l->flags.v[flag].key < f->key)
			flag++;
		if (f->is_from && !f[1].is_from && f->key == f[1].key &&
			(flag == l->flags.n || l->flags.v[flag].key != f->key))
			ok = link_flow(l, f, f + 1, mhz);
	}
	return ok;
}

/* Pairs flags. */
static bool asc_link(struct asc_build *b, double mhz, struct incore_error *e)
{
	struct linker l = {.b = b};
	struct trace *t = b->trace;
	bool ok = link_flags(&l) && link_flows(&l, mhz) && asc_link_barriers(b, &l.links) &&
		  ascend_finish_note_alone(b, &l.alone[SIDE_SET], false) &&
		  ascend_finish_note_alone(b, &l.alone[SIDE_WAIT], true);

	ok = ok && SORT_LONG(l.links.v.v, l.links.v.n, link_cmp);
	if (ok && l.links.v.n) {
		t->links = arena_memdup(&t->arena, l.links.v.v, l.links.v.n * sizeof(*l.links.v.v));
		t->n_links = (uint32_t)l.links.v.n;
		ok = t->links != NULL && l.links.v.n <= UINT32_MAX;
	}
	VEC_FREE(&l.flags);
	VEC_FREE(&l.links.v);
	return ok || err_nomem(e);
}

/* --- cycles in a microsecond ------------------------------------------------------------------ */

/*
 * Finds the number of cycles in a microsecond, which neither the container nor trace.json states.
 * The sources, in this order: the user, our own exporter, stated cycles divided by the lengths of
 * the same instructions, the SoC in a details block, the lanes, the simulator's default.
 */

/* If times are rounded to 1 ns, shorter lengths are mostly rounding error. */
#define LONG_ENOUGH_US 0.02

struct ratio {
	double cycles, us;
};

static uint64_t pc_key(enum ascend_core kind, uint64_t pc)
{
	return hash_mix64(pc) ^ (uint64_t)kind << 1;
}

struct pc_sum {
	double us;
	uint64_t n;
};

/* Sums the rows of each PC, without flags and marks (which are drawn too short). */
static bool sum_rows(struct asc_build *b, struct u64_map *at, struct pc_sum *sums)
{
	size_t n = 0;

	for (size_t i = 0; i < b->rows.n; i++) {
		const struct code_row *c = &b->code.v[i];
		const struct asc_row *r = &b->rows.v[i];
		uint64_t *k;

		if (r->sync != SYNC_NONE || !r->is_kind_known || r->n == 0)
			continue;
		k = u64_map_at(at, pc_key((enum ascend_core)c->code_object, c->address));
		if (!k)
			return false;
		if (*k == 0)
			*k = ++n;
		sums[*k - 1].us += r->us;
		sums[*k - 1].n += r->n;
	}
	return true;
}

/* Adds up stated cycles and lengths of all PCs with complete executions. */
static bool add_ratios(struct asc_build *b, struct ratio *long_ones, struct ratio *all)
{
	struct u64_map at = {0};
	struct pc_sum *sums = mem_zalloc(b->rows.n + 1, sizeof(*sums));
	bool ok = sums && sum_rows(b, &at, sums);

	for (size_t i = 0; ok && i < b->stated.n; i++) {
		const struct asc_stated *s = &b->stated.v[i];
		uint64_t *k = u64_map_find(&at, pc_key(s->kind, s->pc));
		const struct pc_sum *p = k ? &sums[*k - 1] : NULL;

		if (!p || s->cycles <= 0 || s->calls < 0 || (uint64_t)s->calls != p->n ||
			p->us <= 0)
			continue;
		all->cycles += (double)s->cycles;
		all->us += p->us;
		if (p->us / (double)p->n >= LONG_ENOUGH_US) {
			long_ones->cycles += (double)s->cycles;
			long_ones->us += p->us;
		}
	}
	u64_map_deinit(&at);
	mem_free(sums);
	return ok;
}

static bool from_stated(struct asc_build *b, unsigned *mhz, struct incore_error *e)
{
	struct ratio many = {0}, all = {0}, *use;
	double v;

	*mhz = 0;
	if (b->stated.n == 0)
		return true;
	if (!add_ratios(b, &many, &all))
		return err_nomem(e);
	use = many.us > 0 ? &many : &all;
	if (use->us <= 0)
		return true;
	v = use->cycles / use->us;
	*mhz = ascend_snap_mhz(v);
	if (*mhz == 0 &&
		!asc_note(b, "odd-clock", INCORE_NO_OFFSET,
			"stated cycles and lengths make %.1f MHz, which no known SoC has", v))
		return err_nomem(e);
	return true;
}

static bool ascend_finish_has_a5_lanes(const struct asc_build *b)
{
	for (size_t i = 0; i < b->lanes.n; i++) {
		enum ascend_pipe p = ascend_pipe_of_lane(b->lanes.v[i].tid);

		if (b->lanes.v[i].recs.n && p != PIPE_NONE && ascend_lane(p)->is_a5)
			return true;
	}
	return false;
}

static bool set(struct asc_build *b, double mhz, const char *source, double *out)
{
	b->trace->meta.clock_hz_num = (uint64_t)(mhz * 1e6 + 0.5);
	b->trace->meta.clock_hz_den = 1;
	b->trace->meta.clock_source = source;
	*out = mhz;
	return true;
}

static bool set_soc(struct asc_build *b, const char *name, const char *source)
{
	struct trace_meta *m = &b->trace->meta;

	if (m->arch)
		return true;
	m->arch = arena_strdup(&b->trace->arena, name);
	m->arch_source = source;
	return m->arch != NULL;
}

static bool by_user(struct asc_build *b, double *mhz, bool *is_done, struct incore_error *e)
{
	const struct import_options *o = b->options;
	const struct ascend_soc *soc;

	if (o->soc) {
		soc = ascend_soc_find(str_of(o->soc));
		if (!soc)
			return err_set(e, INCORE_USAGE, "bad-soc", "unknown SoC '%s'", o->soc);
		b->trace->meta.arch = NULL;
		if (!set_soc(b, o->soc, "--soc"))
			return err_nomem(e);
		set(b, soc->mhz, "--soc", mhz);
	}
	if (o->clock_hz)
		set(b, (double)o->clock_hz / 1e6, "--clock", mhz);
	*is_done = o->soc || o->clock_hz;
	return true;
}

static bool is_own_clock(const struct asc_build *b)
{
	double hz = b->clock_hz_den ? (double)b->clock_hz_num / (double)b->clock_hz_den : 1e9;

	return !b->is_ticks && hz >= 1e6 && hz <= 1e11;
}

/* Our exporters state the clock, or write a cycle as 1 ns, or both. */
static bool set_own(struct asc_build *b, double *mhz)
{
	struct trace_meta *m = &b->trace->meta;

	*mhz = 1000;
	if (!b->clock_hz_den)
		return true;
	m->clock_hz_num = b->clock_hz_num;
	m->clock_hz_den = b->clock_hz_den;
	m->clock_source = "trace";
	if (!b->is_cycle_1ns)
		*mhz = (double)b->clock_hz_num / (double)b->clock_hz_den / 1e6;
	return true;
}

/* Why the clock is a guess, for the note. */
static bool guess(struct asc_build *b, double *mhz, struct incore_error *e)
{
	bool is_a5 = ascend_finish_has_a5_lanes(b);
	unsigned v = is_a5 ? 1800 : ASCEND_DEFAULT_MHZ;

	set(b, v, is_a5 ? "lanes" : "default", mhz);
	if (b->n_slices == 0)
		b->trace->meta.clock_hz_den = 0;
	else if (
		!asc_note(b, "clock-unknown", INCORE_NO_OFFSET,
			is_a5 ? "nothing states the clock; the lanes are those of A5, taken as %u MHz (--soc or --clock sets it)"
			      : "nothing states the clock; taken as %u MHz, the simulator's default (--soc or --clock sets it)",
			v))
		return err_nomem(e);
	return true;
}

static bool asc_find_clock(struct asc_build *b, double *mhz, struct incore_error *e)
{
	const struct ascend_soc *soc = b->soc ? ascend_soc_find(str_of(b->soc)) : NULL;
	unsigned stated = 0;
	double written, other; /* our own files have exact cycles, whatever clock the user sets */
	bool is_done = false;

	if (b->soc && !set_soc(b, b->soc, "details"))
		return err_nomem(e);
	if (b->has_metadata && is_own_clock(b))
		return set_own(b, mhz) && by_user(b, &other, &is_done, e);
	if (!by_user(b, mhz, &is_done, e))
		return false;
	if (is_done)
		return true;
	if (b->clock_text.p && trace_event_number(b->clock_text, &written) && written >= 1 &&
		written <= 1e5)
		return set(b, written, "trace", mhz);
	if (!b->is_ticks && !from_stated(b, &stated, e))
		return false;
	if (stated && soc && soc->mhz != stated &&
		!asc_note(b, "two-clocks", INCORE_NO_OFFSET,
			"stated cycles and lengths make %u MHz, but %s runs at %u MHz", stated,
			b->soc, soc->mhz))
		return err_nomem(e);
	if (stated)
		return set(b, stated, b->has_api ? "API_INSTR" : "instr_exe", mhz);
	if (b->ratio_mhz)
		return set(b, b->ratio_mhz, "trace.json", mhz);
	if (soc)
		return set(b, soc->mhz, "details", mhz);
	return guess(b, mhz, e);
}

/* --- core, unit and pipe of a lane ------------------------------------------------------------ */

/*
 * Finds the core, unit and pipe of a (pid, tid). Per-run files name both; per-core files number
 * them and name them with M events; cleaned files have sub-lanes, which are merged again.
 */

static const struct asc_name *ascend_finish_find_name(const struct asc_build *b, uint64_t key)
{
	uint64_t *at = u64_map_find(&b->name_at, key);

	return at ? &b->names.v[*at - 1] : NULL;
}

static bool ascend_finish_is_number(struct str s)
{
	uint64_t v;

	return str_to_u64(s, &v);
}

/* "MTE2_1" of a per-core file -> MTE2, "WARP_3_1" -> WARP_3 */
static enum ascend_pipe pipe_of_thread(struct str name)
{
	ptrdiff_t cut = str_rfind_char(name, '_');
	enum ascend_pipe p = PIPE_NONE;

	if (cut > 0 && ascend_finish_is_number(str_sub(name, (size_t)cut + 1, name.n)))
		p = ascend_pipe_of_lane(str_sub(name, 0, (size_t)cut));
	return p != PIPE_NONE ? p : ascend_pipe_of_lane(name);
}

/* Our chrome export appends more to the unit: "core0.veccore0, kernel, estimate (...)". */
static struct str unit_of_process(struct str name)
{
	ptrdiff_t comma = str_find(name, ", ");
	struct ascend_unit u;

	if (comma > 0 && ascend_unit_of(str_sub(name, 0, (size_t)comma), &u))
		name.n = (size_t)comma;
	return name;
}

/* Finds the name of the lane and the unit it belongs to. */
static void ascend_finish_names_of(
	struct asc_build *b, struct asc_lane *l, struct str *unit, struct str *lane)
{
	const struct asc_name *process, *thread;
	const char *was = b->unit;

	b->unit = l->unit;
	process = ascend_finish_find_name(b, asc_name_key(b, l->pid, (struct str){NULL, 0}));
	thread = ascend_finish_find_name(b, asc_name_key(b, l->pid, l->tid));
	b->unit = was;
	*unit = l->pid;
	*lane = l->tid;
	if (!ascend_finish_is_number(l->pid)) {
		if (thread && ascend_finish_is_number(l->tid))
			*lane = thread->name;
		return;
	}
	if (process && pipe_of_thread(process->name) == PIPE_NONE && !process->is_ambiguous)
		*unit = unit_of_process(process->name);
	else
		*unit = l->unit ? str_of(l->unit) : STR("core0");
	/* Lanes without a number share pid 0: a unique thread name decides. */
	if (thread && !thread->is_ambiguous && pipe_of_thread(thread->name) != PIPE_NONE)
		*lane = thread->name;
	else if (process && !process->is_ambiguous && pipe_of_thread(process->name) != PIPE_NONE)
		*lane = process->name;
	else
		*lane = l->pid;
}

static bool ascend_finish_is_taken(const struct asc_build *b, uint32_t core, uint32_t unit)
{
	for (size_t i = 0; i < b->units.n; i++)
		if (b->units.v[i].at.core == core && b->units.v[i].at.unit == unit)
			return true;
	return false;
}

/* The number at the end of a name in another form, or 0. */
static uint32_t number_at_end(struct str s)
{
	size_t from = s.n;
	uint64_t v = 0;

	while (from > 0 && s.p[from - 1] >= '0' && s.p[from - 1] <= '9' && s.n - from < 6)
		from--;
	str_to_u64(str_sub(s, from, s.n), &v);
	return (uint32_t)v;
}

static uint32_t ascend_finish_find_unit(struct asc_build *b, struct str name)
{
	struct asc_unit u = {.begin = UINT64_MAX};

	for (size_t i = 0; i < b->units.n; i++)
		if (str_is(name, b->units.v[i].name))
			return (uint32_t)i;
	if (!ascend_unit_of(name, &u.at))
		u.at = (struct ascend_unit){number_at_end(name), 0, ASCEND_PLAIN};
	while (ascend_finish_is_taken(b, u.at.core, u.at.unit))
		u.at.core++;
	u.name = arena_strndup(&b->trace->arena, name.n ? name.p : "", name.n);
	if (!u.name || !VEC_PUSH(&b->units, u))
		return NO_TRACK;
	return (uint32_t)(b->units.n - 1);
}

static unsigned other_pipe(struct asc_build *b, struct asc_unit *u, struct str lane)
{
	for (uint32_t i = 0; i < u->n_others; i++)
		if (str_eq(lane, u->others[i]))
			return PIPE_OTHER0 + i;
	if (u->n_others == ASCEND_OTHERS) {
		b->counts[ASC_NO_LANE]++;
		return PIPE_OTHER0 + ASCEND_OTHERS - 1;
	}
	u->others[u->n_others] = lane;
	return PIPE_OTHER0 + u->n_others++;
}

/* Lanes to units and pipes. */
static bool asc_resolve(struct asc_build *b, struct incore_error *e)
{
	/* More names than this cannot be cores. */
	const size_t max_units = 65536;

	EACH (struct asc_lane, l, b->lanes.v, b->lanes.n) {
		struct str unit, lane;

		l->unit_idx = NO_TRACK;
		if (l->recs.n == 0)
			continue;
		ascend_finish_names_of(b, l, &unit, &lane);
		l->unit_idx = ascend_finish_find_unit(b, unit);
		if (l->unit_idx == NO_TRACK)
			return err_nomem(e);
		if (b->units.n > max_units)
			return err_file(e, "bad-trace", b->path, INCORE_NO_OFFSET,
				"more than %zu cores", max_units);
		l->pipe = pipe_of_thread(lane);
		if (l->pipe == PIPE_NONE)
			l->pipe = other_pipe(b, &b->units.v[l->unit_idx], lane);
		else if (str_has(lane, "#") || str_has(lane, " ("))
			b->is_cleaned = true;
	}
	return true;
}

/* --- the trace -------------------------------------------------------------------------------- */

/* The track of a lane, after sorting. */
static track_idx asc_track_of(const struct asc_build *b, uint32_t lane)
{
	const struct asc_lane *l = &b->lanes.v[lane];

	return b->units.v[l->unit_idx].track_of[l->pipe] - 1;
}

/* --- cycles --- */

static uint64_t ascend_finish_cycles_of(double us, double mhz)
{
	return (uint64_t)llround(us * mhz);
}

static uint32_t clamp(struct asc_build *b, uint64_t v)
{
	if (v <= UINT32_MAX)
		return (uint32_t)v;
	b->counts[ASC_CLAMPED]++;
	return UINT32_MAX;
}

static void to_cycles(struct asc_build *b, struct track_slice *r, double mhz)
{
	double ts, us;
	float f;

	memcpy(&ts, &r->start, sizeof(ts));
	memcpy(&f, &r->dur, sizeof(f));
	us = r->flags & REC_LONG ? b->long_us.v[r->dur] : (double)f;
	r->start = ascend_finish_cycles_of(ts, mhz);
	r->dur = clamp(b, ascend_finish_cycles_of(us, mhz));
}

/* The head cost precedes the instruction and becomes part of its slice. */
static void fold_head(struct asc_build *b, struct track_slice *r, struct asc_extra *x, double mhz)
{
	double scale = b->is_ticks ? 1 : mhz;
	uint64_t cache = ascend_finish_cycles_of(x->cache, scale),
		 stall = cache + ascend_finish_cycles_of(x->ccu, scale);

	x->end = r->start + r->dur;
	if (stall > r->start || stall > UINT32_MAX - r->dur) {
		b->counts[ASC_CLAMPED]++;
		stall = r->start < UINT32_MAX - r->dur ? r->start : UINT32_MAX - r->dur;
		cache = cache < stall ? cache : stall;
	}
	r->start -= stall;
	r->dur += (uint32_t)stall;
	x->stall_cyc = (uint32_t)stall;
	x->cache_cyc = (uint32_t)cache;
	b->n_heads += stall != 0;
}

static void finish_lane(struct asc_build *b, struct asc_lane *l, double mhz)
{
	struct asc_unit *u = &b->units.v[l->unit_idx];

	EACH (struct track_slice, r, l->recs.v, l->recs.n) {
		struct code_row *c = &b->code.v[r->code];
		struct asc_row *row = &b->rows.v[r->code];

		if (!b->is_ticks)
			to_cycles(b, r, mhz);
		row->cyc += r->dur;
		if (!row->is_kind_known) {
			c->code_object = u->at.kind;
			row->is_kind_known = true;
		}
		if (r->flags & REC_EXTRA)
			fold_head(b, r, &b->extras.v[r->stall], mhz);
		r->tag = (uint8_t)l->pipe;
		r->inst_class = (uint8_t)ascend_class(l->pipe, b->opcodes.strs[c->opcode]);
		c->inst_class = r->inst_class;
		if (r->start < u->begin)
			u->begin = r->start;
		if (r->start + r->dur > u->end)
			u->end = r->start + r->dur;
		mem_step((size_t)(r - l->recs.v));
	}
}

/* --- order --- */

static bool ascend_finish_is_before(
	const struct code_row *code, const struct track_slice *a, const struct track_slice *c)
{
	uint64_t a_end = a->start + a->dur, c_end = c->start + c->dur;

	if (a->start != c->start)
		return a->start < c->start;
	if (a_end != c_end)
		return a_end < c_end;
	if (code && code[a->code].address != code[c->code].address)
		return code[a->code].address < code[c->code].address;
	return a->code < c->code;
}

static void sift(const struct code_row *code, struct track_slice *v, size_t at, size_t n)
{
	struct track_slice r = v[at];

	for (size_t kid = 2 * at + 1; kid < n; kid = 2 * at + 1) {
		if (kid + 1 < n && ascend_finish_is_before(code, &v[kid], &v[kid + 1]))
			kid++;
		if (!ascend_finish_is_before(code, &r, &v[kid]))
			break;
		v[at] = v[kid];
		at = kid;
	}
	v[at] = r;
}

static void heap_sort(const struct code_row *code, struct track_slice *v, size_t n)
{
	for (size_t i = n / 2; i-- > 0;) {
		sift(code, v, i, n);
		mem_step(i);
	}
	for (size_t i = n; i-- > 1;) {
		struct track_slice r = v[0];

		v[0] = v[i];
		v[i] = r;
		sift(code, v, 0, i);
		mem_step(i);
	}
}

/* Producers write a pipe sorted by end: slices are only a few places off, so that insertion sort is
 * linear. It sorts in place, because a copy of the slices would be the memory peak. */
void asc_sort_recs(const struct code_row *code, struct track_slice *v, size_t n)
{
	size_t moves = 0;

	for (size_t i = 1; i < n; i++) {
		struct track_slice r = v[i];
		size_t k = i;

		for (; k > 0 && ascend_finish_is_before(code, &r, &v[k - 1]); k--)
			v[k] = v[k - 1];
		v[k] = r;
		moves += i - k;
		mem_step(i);
		if (moves > 16 * n) {
			heap_sort(code, v, n);
			return;
		}
	}
}

/* --- tracks --- */

ORDER_AT(unit_cmp, struct asc_unit, UP(at.core) UP(at.unit))

static const char *track_name(struct asc_build *b, const struct asc_unit *u, unsigned pipe)
{
	char buf[16];

	if (pipe >= PIPE_OTHER0)
		return arena_printf(&b->trace->arena, "%s/%.*s", u->name,
			STR_ARG(u->others[pipe - PIPE_OTHER0]));
	return arena_printf(&b->trace->arena, "%s/%s", u->name, ascend_pipe_name(pipe, buf));
}

static bool add_tracks(struct asc_build *b, struct asc_unit *u, clock_idx clock)
{
	struct trace *t = b->trace;

	for (unsigned pipe = 0; pipe < 256; pipe++) {
		struct track *k = &t->tracks[t->n_tracks];

		if (!u->track_of[pipe])
			continue;
		*k = (struct track){.coord = {u->at.core, u->at.unit, pipe},
			.clock = clock,
			.begin_cyc = u->begin,
			.end_cyc = u->end,
			.kernel_id = UINT32_MAX,
			.name = track_name(b, u, pipe),
			.workgroup = NO_VALUE};
		if (!k->name)
			return false;
		u->track_of[pipe] = ++t->n_tracks;
	}
	return true;
}

/* One clock domain per core: the simulator counts common ticks for all of them. */
static bool add_units(struct asc_build *b, struct asc_unit **order)
{
	struct trace *t = b->trace;

	t->clocks = arena_zalloc(&t->arena, b->units.n + 1, sizeof(*t->clocks));
	if (!t->clocks)
		return false;
	for (size_t i = 0; i < b->units.n; i++) {
		struct asc_unit *u = order[i];

		if (i == 0 || order[i - 1]->at.core != u->at.core)
			t->clocks[t->n_clocks++] = (struct clock_domain){.id = u->at.core,
				.is_aligned = true,
				.hz_num = t->meta.clock_hz_num,
				.hz_den = t->meta.clock_hz_den};
		if (!add_tracks(b, u, t->n_clocks - 1))
			return false;
	}
	if (t->n_clocks)
		t->reference_clock = 0;
	return true;
}

static size_t ascend_finish_count_tracks(struct asc_build *b)
{
	size_t n = 0;

	EACH (const struct asc_lane, l, b->lanes.v, b->lanes.n) {
		if (l->unit_idx == NO_TRACK || b->units.v[l->unit_idx].track_of[l->pipe])
			continue;
		b->units.v[l->unit_idx].track_of[l->pipe] = 1;
		n++;
	}
	return n;
}

static bool ascend_finish_make_tracks(struct asc_build *b)
{
	struct trace *t = b->trace;
	struct asc_unit **order = mem_zalloc(b->units.n + 1, sizeof(*order));
	size_t n = ascend_finish_count_tracks(b);
	struct mem_tracks *m = mem_tracks_new(t);
	bool ok = order && m && VEC_RESERVE(&m->slices, n);

	t->tracks = arena_zalloc(&t->arena, n + 1, sizeof(*t->tracks));
	ok = ok && t->tracks;
	for (size_t i = 0; ok && i < n; i++)
		m->slices.v[m->slices.n++] = NULL;
	for (size_t i = 0; ok && i < b->units.n; i++)
		order[i] = &b->units.v[i];
	if (ok && b->units.n)
		SORT(order, b->units.n, unit_cmp);
	ok = ok && add_units(b, order);
	mem_free(order);
	return ok;
}

/* Moves the slices of all lanes of a track into one array. */
static bool ascend_finish_take_lanes(struct asc_build *b)
{
	struct trace *t = b->trace;
	struct track_slice **slices = ((struct mem_tracks *)t->loader_ctx)->slices.v;
	uint64_t *total = mem_zalloc((size_t)t->n_tracks + 1, sizeof(*total));

	if (!total)
		return false;
	for (size_t i = 0; i < b->lanes.n; i++)
		if (b->lanes.v[i].unit_idx != NO_TRACK)
			total[asc_track_of(b, (uint32_t)i)] += b->lanes.v[i].recs.n;
	for (size_t i = 0; i < b->lanes.n; i++) {
		struct asc_lane *l = &b->lanes.v[i];
		track_idx k = l->unit_idx != NO_TRACK ? asc_track_of(b, (uint32_t)i) : NO_TRACK;
		uint32_t *n;
		void *grown;

		if (k == NO_TRACK || total[k] > UINT32_MAX)
			continue;
		n = &t->tracks[k].n_slices;
		if (*n == 0) {
			slices[k] = l->recs.v;
			l->recs.v = NULL;
		}
		if (*n + l->recs.n < total[k] || *n) {
			grown = mem_resize(slices[k], (size_t)total[k], sizeof(struct track_slice));
			if (!grown) {
				mem_free(total);
				return false;
			}
			slices[k] = grown;
		}
		if (l->recs.v)
			memcpy(slices[k] + *n, l->recs.v, l->recs.n * sizeof(struct track_slice));
		*n += (uint32_t)l->recs.n;
		VEC_FREE(&l->recs);
	}
	mem_free(total);
	return true;
}

/* --- places in the text --- */

/* Stores the event of each slice; a slice without an extra had it in its stall field. */
static bool ascend_finish_put_places(struct asc_build *b, track_idx k, struct track_slice *v)
{
	struct trace_text *x = b->trace->text;
	uint32_t n = b->trace->tracks[k].n_slices, *out = mem_resize(NULL, n + 1, sizeof(*out));

	x->of_track[k] = out;
	for (uint32_t i = 0; out && i < n; i++) {
		const struct asc_extra *extra;

		mem_step(i);
		if (!(v[i].flags & REC_EXTRA)) {
			out[i] = v[i].stall;
			v[i].stall = 0;
			continue;
		}
		extra = &b->extras.v[v[i].stall];
		out[i] = extra->event;
		if ((extra->cache > 0 || extra->ccu > 0) &&
			!VEC_PUSH(&x->heads, (struct text_head){out[i], extra->cache, extra->ccu}))
			return false;
	}
	return out != NULL;
}

static bool is_lone_head(const struct asc_build *b, uint32_t extra)
{
	return extra == NO_EXTRA ||
	       (b->extras.v[extra].lane == NO_TRACK && !b->extras.v[extra].is_linked);
}

static bool begin_places(struct asc_build *b)
{
	struct trace_text *x = b->trace->text;
	size_t n = 0;

	for (size_t i = 0; i < x->lone_heads.n; i++) {
		mem_step(i);
		if (is_lone_head(b, b->head_extras.v[i]))
			x->lone_heads.v[n++] = x->lone_heads.v[i];
	}
	x->lone_heads.n = n;
	x->n_tracks = b->trace->n_tracks;
	x->of_track = mem_zalloc((size_t)x->n_tracks + 1, sizeof(*x->of_track));
	return x->of_track != NULL;
}

/* Sorts a track and updates the slice indices of its flags, head costs and moved bytes. */
static bool settle_track(struct asc_build *b, track_idx k)
{
	struct trace *t = b->trace;
	struct track_slice *v = mem_tracks_at(t, k);

	asc_sort_recs(b->code.v, v, t->tracks[k].n_slices);
	if (b->trace->text && !ascend_finish_put_places(b, k, v))
		return false;
	for (uint32_t i = 0; i < t->tracks[k].n_slices; i++) {
		uint64_t bytes = asc_bytes_of(b, &v[i]);
		struct asc_extra *x;

		mem_step(i);
		if (bytes)
			t->moved[t->n_moved++] = (struct slice_bytes){k, i, bytes};
		if (!(v[i].flags & REC_EXTRA)) {
			v[i].stall = 0;
			continue;
		}
		x = &b->extras.v[v[i].stall];
		x->slice = i;
		v[i].stall = x->stall_cyc;
		if (x->stall_cyc)
			t->heads[t->n_heads++] = (struct head_cost){k, i, x->cache_cyc};
	}
	return true;
}

static bool ascend_finish_put_counters(struct asc_build *b, double mhz)
{
	struct trace *t = b->trace;

	t->counters = arena_zalloc(&t->arena, b->series.n + 1, sizeof(*t->counters));
	t->counter_names = arena_zalloc(&t->arena, b->series.n + 1, sizeof(*t->counter_names));
	if (!t->counters || !t->counter_names)
		return false;
	EACH (const struct asc_series, s, b->series.v, b->series.n) {
		uint64_t *time = arena_zalloc(&t->arena, s->ts.n + 1, sizeof(*time));
		uint64_t *value = arena_memdup(&t->arena, s->value.v, s->value.n * sizeof(*value));

		if (!time || (s->value.n && !value) || s->ts.n > UINT32_MAX)
			return false;
		for (size_t k = 0; k < s->ts.n; k++)
			time[k] = ascend_finish_cycles_of(s->ts.v[k], b->is_ticks ? 1 : mhz);
		t->counters[t->n_counters++] = (struct counter_series){.name = s->name,
			.clock = t->n_clocks ? 0 : NO_CLOCK,
			.cu = UINT32_MAX,
			.n = (uint32_t)s->ts.n,
			.time_cyc = time,
			.value = value,
			.unit = s->unit,
			.per_unit = ASC_COUNTER_SCALE};
		t->counter_names[t->n_counter_names++] = s->name;
	}
	return true;
}

static bool ascend_finish_put_slices(struct asc_build *b, double mhz)
{
	struct trace *t = b->trace;

	for (size_t i = 0; i < b->lanes.n; i++)
		if (b->lanes.v[i].unit_idx != NO_TRACK)
			finish_lane(b, &b->lanes.v[i], mhz);
	for (size_t i = 0; i < b->extras.n; i++) {
		mem_step(i);
		if (b->extras.v[i].lane == NO_TRACK && !b->extras.v[i].is_linked)
			b->counts[ASC_LONE_HEAD]++;
	}
	t->heads = arena_zalloc(&t->arena, b->n_heads + 1, sizeof(*t->heads));
	t->moved = arena_zalloc(&t->arena, b->n_moved + 1, sizeof(*t->moved));
	if (!t->heads || !t->moved || !ascend_finish_make_tracks(b) ||
		!ascend_finish_take_lanes(b) || (b->trace->text && !begin_places(b)))
		return false;
	for (track_idx k = 0; k < t->n_tracks; k++)
		if (!settle_track(b, k))
			return false;
	return true;
}

/* The blocks of details are kept complete beside a trace, for writing the trace again. */
static bool put_details(struct asc_build *b)
{
	struct asc_table k;

	if (!b->details.n || !b->n_slices)
		return true;
	asc_table_open(b, &k, ASCEND_TABLE_DETAILS, b->path, "type|json");
	EACH (const struct asc_detail, v, b->details.v, b->details.n) {
		asc_putf(b, &k, "%u", v->type);
		asc_put(b, &k, v->json);
	}
	return asc_table_close(b, &k);
}

bool asc_finish(struct asc_build *b, struct incore_error *e)
{
	struct trace *t = b->trace;
	double mhz = 0;

	if (!asc_resolve(b, e))
		return false;
	if (!asc_merge_csv(b))
		return err_nomem(e);
	if (!asc_find_lines(b, e) || !asc_find_clock(b, &mhz, e))
		return false;
	/* Files of our own exporter are exact to the cycle. */
	t->meta.is_from_us = !b->is_ticks && !b->has_metadata && b->n_slices;
	if (!asc_put_throughput(b, mhz) || !ascend_finish_put_slices(b, mhz) ||
		!ascend_finish_put_counters(b, mhz))
		return err_nomem(e);
	if (!asc_link(b, b->is_ticks ? 1 : mhz, e) || !asc_put_code(b, e) || !asc_count_notes(b, e))
		return false;
	if (!put_details(b))
		return err_nomem(e);
	t->tables = arena_memdup(&t->arena, b->tables.v, b->tables.n * sizeof(*b->tables.v));
	t->n_tables = (uint32_t)b->tables.n;
	if (b->tables.n && !t->tables)
		return err_nomem(e);
	return asc_take_own(b, e);
}
