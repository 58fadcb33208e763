/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: runs every rule on what the walk gathered, sorts the findings, gives the verdict. */
#include "analysis/check/check.h"

#include <stdlib.h>

#include "analysis/check/check_internal.h"
#include "analysis/pipes/pipes.h"
#include "analysis/waves/waits.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/vec.h"
#include "isa/amd.h"
#include "trace/kind.h"
#include "trace/notes.h"

/* --- what the walk collects ------------------------------------------------------------------- */

/*
 * One pass over the tracks collects what the rules of check need: totals per code
 * row, how each wave ends, whether each record follows from the one before, which rows it ran, the
 * state series, the stored wait lists.
 */

#define NO_TARGET UINT64_MAX

struct gather_worker {
	struct code_totals *rows;
	uint32_t *epoch; /* by code index: the last track of this worker that ran it */
	uint32_t now;
	struct series_print states[STATE_COUNT];
	uint64_t state_cyc[STATE_COUNT];
	uint32_t n_read;
	uint64_t n_unknown_code;
	struct waits waits;
};

/*
 * Does the state series of the producer equal the one from our timelines? Both are lists of (time,
 * change of the number of waves). Instead of sorting millions of changes we compare a fingerprint:
 * the sum over all changes of change * H(time) mod 2^128, H a fixed hash to 128 bits. It is linear:
 * changes at one time may be merged or split, and tracks may come in any order, without altering
 * it. Equal series have equal sums; different ones agree by chance only (2^-128 for a random H).
 */
void series_add(struct series_print *p, uint64_t time_cyc, int64_t change)
{
	p->lo += (uint64_t)change * hash_mix64(time_cyc + 0x9e3779b97f4a7c15u);
	p->hi += (uint64_t)change * hash_mix64(time_cyc ^ 0xc2b2ae3d27d4eb4fu);
}

static bool is_free_flow(struct str text)
{
	static const char *const any[] = {
		"s_setpc",
		"s_swappc",
		"s_rfe",
		"s_cbranch_g_fork",
		"s_cbranch_i_fork",
		"s_cbranch_join",
		"s_trap",
		"s_endpgm",
		"s_sendmsghalt",
	};

	for (size_t i = 0; i < sizeof(any) / sizeof(*any); i++)
		if (str_starts(text, any[i]))
			return true;
	return false;
}

static bool prepare_flow(struct check_gather *g, struct arena *a, const struct trace *t)
{
	g->ends_flow = arena_zalloc(a, t->n_code + 1, sizeof(*g->ends_flow));
	g->targets = arena_zalloc(a, t->n_code + 1, sizeof(*g->targets));
	g->is_untraced = arena_zalloc(a, t->n_code + 1, sizeof(*g->is_untraced));
	if (!g->ends_flow || !g->targets || !g->is_untraced)
		return false;
	for (code_idx i = 0; i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];
		struct str text = {r->text, r->text_len};

		g->n_instructions += !r->is_label;
		g->ends_flow[i] = is_free_flow(text);
		g->is_untraced[i] = r->is_label || amd_is_untraced(t->meta.gfx_major, text);
		if (!amd_branch_target(text, r->address, &g->targets[i]))
			g->targets[i] = NO_TARGET;
	}
	return true;
}

static bool gather_new(struct check *c, struct incore_error *e)
{
	const struct trace *t = c->trace;
	struct check_gather *g = arena_zalloc(&c->arena, 1, sizeof(*g));

	if (!g)
		return err_nomem(e);
	c->gather = g;
	g->tracks = arena_zalloc(&c->arena, (size_t)t->n_tracks + 1, sizeof(*g->tracks));
	g->rows = arena_zalloc(&c->arena, (size_t)t->n_code + 1, sizeof(*g->rows));
	if (!g->tracks || !g->rows || !prepare_flow(g, &c->arena, t))
		return err_nomem(e);
	g->wait_tables = wait_tables_new(t, e);
	return g->wait_tables != NULL;
}

void gather_free(struct check_gather *g)
{
	if (g && g->wait_tables)
		wait_tables_free(g->wait_tables);
}

static void worker_deinit(void *self, void *mine)
{
	struct gather_worker *w = mine;

	(void)self;
	mem_free(w->rows);
	mem_free(w->epoch);
	waits_deinit(&w->waits);
}

static bool worker_init(void *self, void *mine)
{
	const struct check *c = self;
	size_t n = (size_t)c->trace->n_code + 1;
	struct gather_worker *w = mine;

	w->rows = mem_zalloc(n, sizeof(*w->rows));
	w->epoch = mem_zalloc(n, sizeof(*w->epoch));
	return w->rows && w->epoch;
}

/* The producer's own rule for its totals: a record of unknown pc neither counts nor moves time. */
static void check_add_records(
	struct gather_worker *w, struct track_facts *f, const struct walk_track *k)
{
	const struct track_data *d = k->data;
	uint64_t prev = d->begin_cyc;

	w->now++;
	for (uint32_t i = 0; i < d->n; i++) {
		code_idx code = d->code[i];
		uint64_t start = d->start_cyc[i], end = start + d->dur_cyc[i];
		struct code_totals *r;

		if (code == NO_CODE)
			continue;
		r = &w->rows[code];
		r->hit++;
		r->latency += d->dur_cyc[i];
		r->stall += d->stall_cyc[i];
		r->idle += start > prev ? start - prev : 0;
		prev = end > prev ? end : prev;
		f->latency += d->dur_cyc[i];
		f->stall += d->stall_cyc[i];
		if (w->epoch[code] != w->now) {
			w->epoch[code] = w->now;
			f->n_rows++;
			f->set[0] += hash_mix64((uint64_t)code + 1);
			f->set[1] += hash_mix64(~(uint64_t)code);
		}
	}
}

static bool follows(const struct check_gather *g, const struct walk_track *k, uint32_t i)
{
	const struct track_data *d = k->data;
	const struct trace *t = k->trace;
	code_idx a = d->code[i - 1], b = d->code[i];

	if (a == NO_CODE || b == NO_CODE || g->ends_flow[a])
		return true;
	if (d->tag[i - 1] == AMD_CATEGORY_CONTEXT || d->tag[i] == AMD_CATEGORY_CONTEXT)
		return true;
	if (d->tag[i - 1] == AMD_CATEGORY_JUMP) {
		/* rows without a record may lie between the target and the next record */
		while (b && t->code[b].address != g->targets[a] && g->is_untraced[b - 1])
			b--;
		return g->targets[a] == NO_TARGET ||
		       (t->code[b].address == g->targets[a] &&
			       t->code[b].code_object == t->code[a].code_object);
	}
	if (b <= a)
		return false;
	for (a++; a < b && g->is_untraced[a];)
		a++;
	return a == b;
}

static void check_flow(
	const struct check_gather *g, struct track_facts *f, const struct walk_track *k)
{
	if (k->trace->meta.vendor != VENDOR_AMD)
		return;
	for (uint32_t i = 1; i < k->data->n; i++)
		f->n_breaks += !follows(g, k, i);
}

static bool is_ended(const struct walk_track *k)
{
	const struct track_data *d = k->data;

	if (k->trace->meta.vendor != VENDOR_AMD || !d->n)
		return k->trace->meta.vendor != VENDOR_AMD;
	/* without code a final message is the only sign of s_endpgm */
	return d->inst_class[d->n - 1] == CLASS_DRAIN ||
	       (d->code[d->n - 1] == NO_CODE && d->tag[d->n - 1] == AMD_CATEGORY_MESSAGE);
}

static void check_file(struct track_facts *f, const struct walk_track *k)
{
	const struct track_data *d = k->data;

	if (!is_ended(k))
		f->flaws |= FLAW_CUT;
	if (d->begin_cyc != k->track->begin_cyc || d->end_cyc != k->track->end_cyc)
		f->flaws |= FLAW_TIMES;
	if (memcmp(d->coord_file, k->track->coord, sizeof(d->coord_file)) != 0)
		f->flaws |= FLAW_COORDS;
	if (d->stated_slices != d->n)
		f->flaws |= FLAW_COUNT;
}

static void add_states(struct gather_worker *w, const struct walk_track *k)
{
	const struct track_data *d = k->data;
	uint64_t at = d->begin_cyc;

	for (uint32_t i = 0; i < d->n_states; i++) {
		unsigned s = d->state[i];
		uint64_t end = at + d->state_dur_cyc[i];

		if (s < STATE_COUNT) {
			series_add(&w->states[s], at, 1);
			series_add(&w->states[s], end, -1);
			w->state_cyc[s] += d->state_dur_cyc[i];
		}
		at = end;
	}
}

static bool check_waits(const struct check_gather *g, struct gather_worker *w,
	struct track_facts *f, const struct walk_track *k, struct incore_error *e)
{
	if (!waits_of(&w->waits, g->wait_tables, k, WAITS_VIEWER, e))
		return false;
	if (!k->data->n_stated_waits && w->waits.stated.n)
		f->flaws |= FLAW_UNSTATED;
	else if (!waits_equal_stated(&w->waits, k->data))
		f->flaws |= FLAW_WAITS;
	return true;
}

static bool gather_track(void *self, void *mine, const struct walk_track *k, struct incore_error *e)
{
	struct check *c = self;
	struct gather_worker *w = mine;
	struct track_facts *f = &c->gather->tracks[k->idx];

	f->is_read = true;
	w->n_read++;
	w->n_unknown_code += k->data->n_unknown_code;
	check_add_records(w, f, k);
	check_flow(c->gather, f, k);
	check_file(f, k);
	add_states(w, k);
	return check_waits(c->gather, w, f, k, e);
}

static bool check_gather_merge(void *self, void *mine, struct incore_error *e)
{
	struct check *c = self;
	struct check_gather *g = c->gather;
	const struct gather_worker *w = mine;

	(void)e;
	for (code_idx i = 0; i < c->trace->n_code; i++) {
		g->rows[i].hit += w->rows[i].hit;
		g->rows[i].latency += w->rows[i].latency;
		g->rows[i].stall += w->rows[i].stall;
		g->rows[i].idle += w->rows[i].idle;
	}
	for (unsigned s = 0; s < STATE_COUNT; s++) {
		g->states[s].lo += w->states[s].lo;
		g->states[s].hi += w->states[s].hi;
		g->state_cyc[s] += w->state_cyc[s];
	}
	g->n_read += w->n_read;
	g->n_unknown_code += w->n_unknown_code;
	return true;
}

struct collector check_collector(struct check *c)
{
	if (c->pipes)
		return pipes_collector(c->pipes);
	return (struct collector){
		.self = c,
		.want = TRACK_STATES | TRACK_STATED_WAITS,
		.worker_bytes = sizeof(struct gather_worker),
		.worker_init = worker_init,
		.track = gather_track,
		.merge = check_gather_merge,
		.worker_deinit = worker_deinit,
	};
}

/* --- the check -------------------------------------------------------------------------------- */

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {"ok", "suspect", "unusable"};

	return names[v];
}

#define FINDING_ROW(CODE, WEIGHT, EFFECT, ADVICE) {CODE, WEIGHT_##WEIGHT, VERDICT_##EFFECT, ADVICE},
static const struct finding_row_of {
	const char *code;
	enum note_weight weight;
	enum verdict effect;
	const char *advice;
} finding_rows[] = {FINDINGS(FINDING_ROW)};

static const struct finding_row_of *row_of_finding(const char *code)
{
	/* a file may hold notes of a later version */
	static const struct finding_row_of other = {
		"", WEIGHT_WARNING, VERDICT_SUSPECT, "the notes of the import say more"};

	for (size_t i = 0; i < sizeof(finding_rows) / sizeof(*finding_rows); i++)
		if (strcmp(finding_rows[i].code, code) == 0)
			return &finding_rows[i];
	return &other;
}

static const char *advice_of(const char *code)
{
	const char *advice = row_of_finding(code)->advice;
	const struct note_entry *note = *advice ? NULL : note_row(code);

	return note ? note->advice : advice;
}

struct finding *check_add_as(
	struct check *c, const char *code, enum note_weight weight, enum verdict effect)
{
	struct finding *f = &c->spare;
	size_t cap = c->cap_findings;

	if (c->n_findings == cap &&
		!vec_grow((void **)&c->findings, &cap, cap + 1, sizeof(*c->findings)))
		c->is_nomem = true;
	else
		f = &c->findings[c->n_findings++];
	c->cap_findings = (uint32_t)cap;
	*f = (struct finding){
		.note = {.kind = weight == WEIGHT_INFO ? NOTE_INFO : NOTE_CONTRADICTORY,
			.weight = weight,
			.code = code,
			.offset = INCORE_NO_OFFSET,
			.count = 1},
		.advice = advice_of(code)};
	if (effect > c->verdict)
		c->verdict = effect;
	return f;
}

struct finding *check_add(struct check *c, const char *code)
{
	const struct finding_row_of *row = row_of_finding(code);

	return check_add_as(c, code, row->weight, row->effect);
}

const char *check_text(struct check *c, const struct strbuf *b)
{
	c->is_nomem |= b->failed;
	return b->p ? b->p : "";
}

static PRINTF_LIKE(2, 0) char *check_vprintf(struct check *c, const char *fmt, va_list ap)
{
	struct strbuf b = {0};
	char *s = NULL;

	sb_vprintf(&b, fmt, ap);
	if (!b.failed)
		s = arena_strndup(&c->arena, b.p ? b.p : "", b.n);
	c->is_nomem |= s == NULL;
	sb_free(&b);
	return s;
}

void finding_say(struct check *c, struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	f->note.message = check_vprintf(c, fmt, ap);
	va_end(ap);
}

void finding_advise(struct check *c, struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	f->advice = check_vprintf(c, fmt, ap);
	va_end(ap);
}

static struct fact *new_fact(struct finding *f, const char *key, enum evidence_kind kind)
{
	struct fact *x;

	if (f->n_facts == FINDING_MAX_FACTS)
		return NULL;
	x = &f->facts[f->n_facts++];
	*x = (struct fact){.key = key, .kind = kind};
	return x;
}

void fact_int(struct finding *f, const char *key, int64_t v)
{
	struct fact *x = new_fact(f, key, FACT_INT);

	if (x)
		x->i = v;
}

void fact_real(struct finding *f, const char *key, double v, int digits)
{
	struct fact *x = new_fact(f, key, FACT_REAL);

	if (!x)
		return;
	x->d = v;
	x->digits = digits;
}

void fact_text(struct check *c, struct finding *f, const char *key, const char *fmt, ...)
{
	struct fact *x = new_fact(f, key, FACT_TEXT);
	va_list ap;

	if (!x)
		return;
	va_start(ap, fmt);
	x->text = check_vprintf(c, fmt, ap);
	va_end(ap);
	if (!x->text)
		f->n_facts--;
}

uint64_t check_notes(const struct check *c, const char *code)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < c->trace->n_notes; i++)
		if (str_is(str_of(c->trace->notes[i].code), code))
			n += c->trace->notes[i].count ? c->trace->notes[i].count : 1;
	return n;
}

bool check_is_sampled(const struct check *c)
{
	return c->trace->samples && !c->trace->n_tracks;
}

int64_t check_target_cu(const struct check *c)
{
	const int64_t profiler_default = 1;

	return c->trace->meta.target_cu != NO_VALUE ? c->trace->meta.target_cu : profiler_default;
}

uint8_t *check_seen_simds(struct check *c)
{
	const struct trace *t = c->trace;
	uint8_t *seen = arena_zalloc(&c->arena, (size_t)t->n_clocks + 1, sizeof(*seen));

	for (track_idx i = 0; seen && i < t->n_tracks; i++)
		if (t->tracks[i].clock < t->n_clocks)
			seen[t->tracks[i].clock] |= (uint8_t)(1u << (t->tracks[i].coord[2] & 7));
	return seen;
}

struct check *check_new(
	const struct trace *t, const struct check_context *ctx, struct incore_error *e)
{
	struct check *c = mem_zalloc(1, sizeof(*c));

	if (!c)
		return err_nomem_null(e);
	arena_init(&c->arena);
	c->trace = t;
	c->ctx = ctx;
	if (trace_kind(t) != KIND_PIPES) {
		if (gather_new(c, e))
			return c;
	} else {
		c->pipes = pipes_new(t, e);
		if (c->pipes)
			return c;
	}
	check_free(c);
	return NULL;
}

void check_free(struct check *c)
{
	if (!c)
		return;
	gather_free(c->gather);
	pipes_free(c->pipes);
	mem_free(c->findings);
	arena_deinit(&c->arena);
	mem_free(c);
}

/* Stable, so that the order of the rules stays within one weight; findings are few. */
static void sort_findings(struct check *c)
{
	for (uint32_t i = 1; i < c->n_findings; i++) {
		struct finding f = c->findings[i];
		uint32_t j = i;

		for (; j && c->findings[j - 1].note.weight < f.note.weight; j--)
			c->findings[j] = c->findings[j - 1];
		c->findings[j] = f;
	}
}

typedef void (*rule_fn)(struct check *c);

/* The first rule decides whether there is anything to check. Damage comes next: it explains what
 * follows.
 */
static const rule_fn wave_rules[] = {rule_shell, rule_damaged, rule_links, rule_implausible,
	rule_code, rule_missed_se, rule_truncated, rule_wave_files, rule_repeated, rule_kernel_ids,
	rule_source_map, rule_collapsed, rule_stale, rule_early_exit, rule_matrix, rule_underfilled,
	rule_coverage, rule_clock, rule_alignment, rule_vgprs, rule_short, rule_counters,
	rule_totals, rule_states, rule_waits, NULL};

static const rule_fn pipe_rules[] = {rule_no_timeline, rule_labels, rule_no_compute,
	rule_near_empty, rule_one_side, rule_no_loop, rule_cut_tail, rule_zero_bytes,
	rule_sync_bound, rule_no_flags, rule_sub_blocks, rule_flag_pairs, rule_sim_time,
	rule_sim_totals, rule_sim_busy, rule_links, NULL};

/* Rules for sampling profilers, which follow no wave. */
static const rule_fn sample_rules[] = {rule_damaged, rule_few_samples, rule_dropped_samples,
	rule_short_sampled, rule_clock_locked, rule_pass_clocks, rule_replay, rule_no_lines,
	rule_cut_report, rule_unmapped, rule_stale, NULL};

/* Timelines and scopes have no instructions: their notes say all there is to say. */
static const rule_fn timeline_rules[] = {rule_damaged, NULL};

static const rule_fn *rules_for(const struct trace *t)
{
	static const rule_fn *const rules[TRACE_KINDS] = {[KIND_TOTALS] = wave_rules,
		[KIND_WAVES] = wave_rules,
		[KIND_PIPES] = pipe_rules,
		[KIND_SAMPLES] = wave_rules,
		[KIND_TIMELINE] = timeline_rules,
		[KIND_SCOPES] = timeline_rules};

	/* a profiler of NVIDIA follows no wave, whether it has samples or figures alone */
	return t->meta.vendor == VENDOR_NVIDIA && !t->n_tracks ? sample_rules
							       : rules[trace_kind(t)];
}

bool check_finish(struct check *c, const struct walk_result *w, struct incore_error *e)
{
	const rule_fn *rule = rules_for(c->trace);

	if (c->pipes && !pipes_finish(c->pipes, e))
		return false;
	if (w && c->gather) {
		c->gather->n_failed = w->n_failed;
		c->gather->n_outside = w->n_outside;
	}
	for (; *rule && !c->is_shell && !c->is_nomem; rule++)
		(*rule)(c);
	if (c->is_nomem)
		return err_nomem(e);
	sort_findings(c);
	return true;
}

struct check *check_run(const struct trace *t, const struct check_context *ctx,
	const struct walk_options *o, struct walk_result *walk_out, struct incore_error *e)
{
	struct check *c = check_new(t, ctx, e);
	struct collector one;
	const struct collector *list[] = {&one};
	struct walk_options none = {0};

	memset(walk_out, 0, sizeof(*walk_out));
	if (!c)
		return NULL;
	one = check_collector(c);
	if (!walk_tracks(t, o ? o : &none, list, 1, walk_out, e) || !check_finish(c, walk_out, e)) {
		check_free(c);
		return NULL;
	}
	return c;
}

const struct finding *check_find(const struct check *c, const char *id)
{
	for (uint32_t i = 0; i < c->n_findings; i++)
		if (str_is(str_of(c->findings[i].note.code), id))
			return &c->findings[i];
	return NULL;
}

bool check_health(const struct check *c, struct strbuf *out)
{
	const char *sep = ": ";

	sb_puts(out, verdict_name(c->verdict));
	for (uint32_t i = 0; i < c->n_findings; i++) {
		if (c->findings[i].note.weight == WEIGHT_INFO)
			continue;
		sb_puts(out, sep);
		sb_puts(out, c->findings[i].note.code);
		sep = ", ";
	}
	return !out->failed;
}

bool finding_put_evidence(const struct finding *f, struct strbuf *out)
{
	for (unsigned i = 0; i < f->n_facts; i++) {
		const struct fact *x = &f->facts[i];

		sb_printf(out, "%s%s ", i ? ", " : "", x->key);
		if (x->kind == FACT_INT)
			sb_printf(out, "%lld", (long long)x->i);
		else if (x->kind == FACT_REAL)
			sb_printf(out, "%.*f", x->digits, x->d);
		else
			sb_puts(out, x->text);
	}
	return !out->failed;
}
