/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c: finds the number of cycles in a microsecond, which neither the container nor trace.json
 * states. The sources, in this order: the user, our own exporter, stated cycles divided by the
 * lengths of the same instructions, the SoC in a details block, the lanes, the simulator's
 * default.
 */
#include <math.h>

#include "base/hash.h"
#include "import/ascend/ascend.h"

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
		!asc_note(b, NOTE_CONTRADICTORY, "odd-clock", INCORE_NO_OFFSET,
			"stated cycles and lengths make %.1f MHz, which no known SoC has", v))
		return err_nomem(e);
	return true;
}

static bool has_a5_lanes(const struct asc_build *b)
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
	bool is_a5 = has_a5_lanes(b);
	unsigned v = is_a5 ? 1800 : ASCEND_DEFAULT_MHZ;

	set(b, v, is_a5 ? "lanes" : "default", mhz);
	if (b->n_slices == 0)
		b->trace->meta.clock_hz_den = 0;
	else if (
		!asc_note(b, NOTE_GUESSED, "clock-unknown", INCORE_NO_OFFSET,
			is_a5 ? "nothing states the clock; the lanes are those of A5, taken as %u MHz (--soc or --clock sets it)"
			      : "nothing states the clock; taken as %u MHz, the simulator's default (--soc or --clock sets it)",
			v))
		return err_nomem(e);
	return true;
}

bool asc_find_clock(struct asc_build *b, double *mhz, struct incore_error *e)
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
		!asc_note(b, NOTE_CONTRADICTORY, "two-clocks", INCORE_NO_OFFSET,
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
