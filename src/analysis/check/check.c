/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: runs every rule on what the walk gathered, sorts the findings, gives the verdict. */
#include "analysis/check/check.h"

#include <stdlib.h>

#include "analysis/check/check_internal.h"
#include "analysis/pipes/pipes.h"
#include "base/mem.h"
#include "base/vec.h"
#include "trace/kind.h"

const char *severity_name(enum severity s)
{
	static const char *const names[] = {"error", "warning", "info"};

	return names[s];
}

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {"ok", "suspect", "unusable"};

	return names[v];
}

struct finding *check_add(struct check *c, const char *id, enum severity s, enum verdict effect)
{
	struct finding *f = &c->spare;
	size_t cap = c->cap_findings;

	if (c->n_findings == cap &&
		!vec_grow((void **)&c->findings, &cap, cap + 1, sizeof(*c->findings)))
		c->is_nomem = true;
	else
		f = &c->findings[c->n_findings++];
	c->cap_findings = (uint32_t)cap;
	*f = (struct finding){.id = id, .severity = s};
	if (effect > c->verdict)
		c->verdict = effect;
	return f;
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
	f->message = check_vprintf(c, fmt, ap);
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
	if (trace_kind(t) == KIND_PIPES)
		c->pipes = pipes_new(t, e);
	if (trace_kind(t) == KIND_PIPES ? c->pipes != NULL : gather_new(c, e))
		return c;
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

/* Stable, so that the order of the rules stays within one severity; findings are few. */
static void sort_findings(struct check *c)
{
	for (uint32_t i = 1; i < c->n_findings; i++) {
		struct finding f = c->findings[i];
		uint32_t j = i;

		for (; j && c->findings[j - 1].severity > f.severity; j--)
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

static const rule_fn pipe_rules[] = {rule_no_timeline, rule_no_compute, rule_near_empty,
	rule_one_side, rule_no_loop, rule_cut_tail, rule_zero_bytes, rule_sync_bound, rule_no_flags,
	rule_sub_blocks, rule_flag_pairs, rule_sim_time, rule_sim_totals, rule_sim_busy, rule_links,
	NULL};

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
		if (str_is(str_of(c->findings[i].id), id))
			return &c->findings[i];
	return NULL;
}

bool check_health(const struct check *c, struct strbuf *out)
{
	const char *sep = ": ";

	sb_puts(out, verdict_name(c->verdict));
	for (uint32_t i = 0; i < c->n_findings; i++) {
		if (c->findings[i].severity == SEVERITY_INFO)
			continue;
		sb_puts(out, sep);
		sb_puts(out, c->findings[i].id);
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
