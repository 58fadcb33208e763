/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict_traced.c: the verdict of captures without counters: timelines of waves, pipes, samples.
 * A trace shows how long each unit issued; what it does not show (caches, DRAM, and all units where
 * there are samples alone) is left out, and `missing` says how to take it.
 */
#include "answer/verdict/verdict.h"

#include "analysis/ledger/traced.h"
#include "analysis/pipes/pipes.h"
#include "analysis/place.h"
#include "analysis/summary/hoist.h"
#include "base/search.h"
#include "trace/kind.h"

#define QUEUE_LEAST .30 /* of wave time for a full VMEM queue, half of it before it: it binds */
#define UNITS_SHOWN 5	/* on the line of the screen, the fullest first */
#define GAIN_LEAST .5	/* per cent: smaller gains are no change to begin with */

enum { OF_VMEM, OF_LDS, TRACED_QUEUES };

struct traced {
	struct answer *a;
	struct verdict_answer *to;
	const struct advised *side;
	const struct machine_rates *rates;
	struct traced_queue {
		const char *name;
		enum machine_unit unit;
		double before; /* share of wave time that stands before it because it is full */
		double behind; /* and that waits for the results of what is in it */
	} queue[TRACED_QUEUES];
};

/* --- units ---------------------------------------------------------------------------------- */

static struct verdict_unit_row unit_row(
	const struct traced *x, enum machine_unit u, uint64_t busy, uint64_t all)
{
	double practical = x->rates ? x->rates->practical[u] : 0;
	double used = percent(busy, all);

	return (struct verdict_unit_row){.unit = machine_unit_code(u),
		.name = machine_unit_name(u),
		.peak_pct = used,
		.busiest_pct = used,
		.practical_pct = practical > 0 ? 100 * practical : NAN,
		.full_pct = practical > 0 ? used / practical : used,
		.cycles = (double)busy};
}

ORDER(by_full, struct verdict_unit_row, DOWN(full_pct) A_TO_Z(unit))

static bool put_wave_units(struct traced *x, struct incore_error *e)
{
	struct verdict_unit_row *v =
		ANSWER_ROWS(x->a, &x->to->units, MACHINE_UNITS, verdict_unit_row, e);
	struct traced_units units;
	size_t n = 0;

	traced_units(x->side->summary, x->rates, &units);
	for (unsigned u = 0; v && u < MACHINE_UNITS; u++) {
		const struct traced_unit *k = &units.unit[u];

		if (!k->is_known)
			continue;
		v[n] = unit_row(
			x, (enum machine_unit)u, (uint64_t)k->busy_cyc, (uint64_t)k->all_cyc);
		v[n++].busiest_pct = k->busiest_pct;
	}
	x->to->units.n = n;
	if (v)
		SORT(v, n, by_full);
	return v != NULL;
}

static enum machine_unit unit_of_lane(const char *lane)
{
	static const struct {
		const char *lane;
		enum machine_unit unit;
	} lanes[] = {{"CUBE", MACHINE_CUBE}, {"VECTOR", MACHINE_VECTOR}, {"MTE1", MACHINE_MTE1},
		{"MTE2", MACHINE_MTE2}, {"MTE3", MACHINE_MTE3}, {"FIXP", MACHINE_FIXP},
		{"SCALAR", MACHINE_SCALAR}, {"RVEC", MACHINE_VECTOR}};

	for (size_t i = 0; i < sizeof(lanes) / sizeof(*lanes); i++)
		if (strncmp(lane, lanes[i].lane, strlen(lanes[i].lane)) == 0)
			return lanes[i].unit;
	return MACHINE_UNITS;
}

/* The busiest instance of each kind of pipe. */
static bool put_pipe_units(struct traced *x, struct incore_error *e)
{
	const struct pipes *p = x->side->pipes;
	double busiest[MACHINE_UNITS] = {0}, sum[MACHINE_UNITS] = {0};
	uint64_t cycles[MACHINE_UNITS] = {0}, n[MACHINE_UNITS] = {0};
	struct verdict_unit_row *v =
		ANSWER_ROWS(x->a, &x->to->units, MACHINE_UNITS, verdict_unit_row, e);
	size_t at = 0;

	for (track_idx i = 0; v && i < p->n_tracks; i++) {
		enum machine_unit u = unit_of_lane(pipe_lane_name(&x->side->trace->tracks[i]));
		double used = percent(p->rows[i].busy_cyc, p->rows[i].duration_cyc);

		if (u == MACHINE_UNITS || !p->rows[i].is_seen || !isfinite(used))
			continue;
		n[u]++;
		sum[u] += used;
		if (used >= busiest[u]) {
			busiest[u] = used;
			cycles[u] = p->rows[i].busy_cyc;
		}
	}
	for (unsigned u = 0; v && u < MACHINE_UNITS; u++)
		if (n[u] && cycles[u])
			v[at++] = (struct verdict_unit_row){machine_unit_code(u),
				machine_unit_name(u), sum[u] / (double)n[u], busiest[u], NAN,
				busiest[u], (double)cycles[u]};
	x->to->units.n = at;
	if (v)
		SORT(v, at, by_full);
	return v != NULL;
}

/* --- waits ---------------------------------------------------------------------------------- */

ORDER(by_lost, struct verdict_wait_row, DOWN(exposed_pct) A_TO_Z(reason))

static bool is_vmem(enum inst_class c)
{
	return c == CLASS_VMEM_LOAD || c == CLASS_VMEM_STORE || c == CLASS_VMEM_ATOMIC ||
	       c == CLASS_VMEM_TO_LDS;
}

/* "wait:VMEM-load" in words. */
static bool wait_words(
	struct traced *x, const struct cause *c, const char **out, struct incore_error *e)
{
	static const char *const of_kind[CAUSE_KINDS] = {[CAUSE_BARRIER] = "the barrier",
		[CAUSE_SLEEP] = "sleep instructions",
		[CAUSE_NOP_PADDING] = "hazards that the compiler padded (s_nop)",
		[CAUSE_NOP_EXCESS] = "the issue of s_nop",
		[CAUSE_CROSS_PIPE] = "the change from one pipe to another",
		[CAUSE_BRANCH] = "instructions after a taken branch",
		[CAUSE_GAP] = "instructions to be fetched or chosen",
		[CAUSE_LAUNCH] = "its first instruction (launch)",
		[CAUSE_TAIL] = "its end",
		[CAUSE_DRAIN] = "stores at the end (drain)"};
	const char *colon = strchr(c->name, ':');
	const char *name = vendor_class_word(x->side->trace, colon ? colon + 1 : c->name);
	struct strbuf b = {0};

	if (strcmp(c->name, "fixed-latency") == 0)
		sb_puts(&b, "the instruction before (fixed latency)");
	else if (of_kind[c->kind])
		sb_puts(&b, of_kind[c->kind]);
	else if (c->kind == CAUSE_PIPE_STALL)
		sb_printf(&b, "%s: its pipe or its queue", name);
	else
		sb_printf(&b, "results of %s", name);
	return verdict_keep(x->a, &b, out, e);
}

/* Exposed cycles of a cause that wait for a kernel's arguments: nothing stands before their loads. */
static uint64_t launch_cyc(const struct summary *s, uint32_t cause)
{
	const struct causes *c = s->causes;
	uint64_t sum = 0;

	for (uint32_t i = 0; c->v[cause].kind == CAUSE_WAIT && i < c->n_cells; i++) {
		const struct cause_cell *k = &c->cells[i];

		if (k->cause == cause && k->hits && k->code < s->trace->n_code &&
			hoist_is_launch(
				s, hoist_load_of(s, k->code), (double)k->cyc / (double)k->hits))
			sum += k->cyc - k->hidden_cyc;
	}
	return sum;
}

static void put_launch(struct traced *x, uint64_t launch, struct verdict_wait_row *row)
{
	*row = (struct verdict_wait_row){.reason = "launch-latency",
		.words = "its arguments (launch latency)",
		.exposed_pct = percent(launch, x->side->summary->causes->duration_cyc),
		.queued_pct = NAN,
		.latency = NAN,
		.idle_latency = NAN};
}

/* Adds who stands before a queue, or waits for what is in it; true: before it. */
static bool add_to_queue(struct traced *x, const struct cause *c)
{
	double share = ratio(c->cyc, x->side->summary->causes->duration_cyc);
	bool is_lds = c->inst_class == CLASS_LDS || c->inst_class == CLASS_LDS_XLANE;

	if (c->kind == CAUSE_PIPE_STALL && (is_vmem(c->inst_class) || is_lds)) {
		x->queue[is_lds ? OF_LDS : OF_VMEM].before += share;
		return true;
	}
	if (c->kind == CAUSE_WAIT && strstr(c->name, "VMEM"))
		x->queue[OF_VMEM].behind += share;
	else if (c->kind == CAUSE_WAIT && strstr(c->name, "LDS"))
		x->queue[OF_LDS].behind += share;
	return false;
}

static bool put_wave_waits(struct traced *x, struct incore_error *e)
{
	const struct causes *c = x->side->summary->causes;
	struct verdict_wait_row *v =
		ANSWER_ROWS(x->a, &x->to->waits, (size_t)c->n + 1, verdict_wait_row, e);
	uint64_t lost = 0, launch = 0;
	size_t n = 0;

	for (uint32_t i = 0; v && i < c->n; i++) {
		uint64_t exposed = c->v[i].cyc - c->v[i].hidden_cyc;
		bool is_queue = add_to_queue(x, &c->v[i]);
		uint64_t of_launch;

		if (c->v[i].family == FAMILY_USEFUL || !exposed)
			continue;
		lost += exposed;
		of_launch = launch_cyc(x->side->summary, i);
		launch += of_launch;
		exposed -= of_launch;
		if (!exposed)
			continue;
		v[n] = (struct verdict_wait_row){.reason = c->v[i].name,
			.exposed_pct = percent(exposed, c->duration_cyc),
			.queued_pct = is_queue ? 100 : NAN,
			.latency = NAN,
			.idle_latency = NAN};
		if (!wait_words(x, &c->v[i], &v[n++].words, e))
			return false;
	}
	if (v && launch)
		put_launch(x, launch, &v[n++]);
	x->to->waits.n = n;
	x->to->exposed_pct = percent(lost, c->duration_cyc);
	if (v)
		SORT(v, n, by_lost);
	return v != NULL;
}

static bool put_pipe_waits(struct traced *x, struct incore_error *e)
{
	const struct pipes *p = x->side->pipes;
	struct verdict_wait_row *v =
		ANSWER_ROWS(x->a, &x->to->waits, p->pairs.n, verdict_wait_row, e);
	size_t n = 0;

	for (size_t i = 0; v && i < p->pairs.n; i++) {
		const struct pipe_pair *k = &p->pairs.v[i];
		struct strbuf b = {0};

		if (!k->cyc)
			continue;
		sb_printf(&b, "%s for %s", k->consumer, k->producer ? k->producer : "nobody known");
		v[n] = (struct verdict_wait_row){.exposed_pct = percent(k->cyc, p->duration_cyc),
			.queued_pct = NAN,
			.latency = NAN,
			.idle_latency = NAN};
		if (!verdict_keep(x->a, &b, &v[n].words, e))
			return false;
		v[n].reason = v[n].words;
		n++;
	}
	x->to->waits.n = n;
	return v != NULL;
}

/* --- changes -------------------------------------------------------------------------------- */

static struct verdict_change_row change_of(const struct traced *x, const struct advice_row *from)
{
	const struct advice_gain *g = from->gain;
	double mhz = trace_clock_mhz(x->side->trace), us = g && mhz > 0 ? 1 / mhz : NAN;
	double width = g ? g->most_pct - g->least_pct : NAN;

	return (struct verdict_change_row){.rule = from->rule,
		.change = from->experiment,
		.place = from->place,
		.where = from->where,
		.waits_for = from->waits_for,
		.found = from->found,
		.pct = g ? g->pct : NAN,
		.least_pct = g ? g->least_pct : NAN,
		.most_pct = g ? g->most_pct : NAN,
		.after_us = g ? us * (double)g->after : NAN,
		.low_us = g ? us * (double)g->low : NAN,
		.high_us = g ? us * (double)g->high : NAN,
		.no_gain = from->no_gain,
		.sure = width < 30 ? "fair" : "low",
		.basis = "replay"};
}

/* Changes with a gain in the order of advise, then those without. */
static bool put_advised(struct traced *x, struct incore_error *e)
{
	const struct advice_row *from = x->side->rows.v;
	struct verdict_change_row *v =
		ANSWER_ROWS(x->a, &x->to->changes, x->side->rows.n, verdict_change_row, e);
	struct strbuf b = {0};
	size_t n = 0;

	for (unsigned has_gain = 1; v && has_gain <= 1; has_gain--)
		for (size_t i = 0; i < x->side->rows.n; i++) {
			const struct advice_gain *g = from[i].gain;

			if ((g != NULL) != (has_gain == 1) ||
				(g && (g->does_nothing || g->pct < GAIN_LEAST)))
				continue;
			v[n] = change_of(x, &from[i]);
			vendor_put_words(x->side->trace, from[i].finding, &b);
			if (!verdict_keep(x->a, &b, &v[n++].counted, e))
				return false;
		}
	x->to->changes.n = n;
	return v != NULL;
}

/* --- what binds ----------------------------------------------------------------------------- */

/* The full queue, or NULL. Who stands before it and who waits for what is in it wait for the same
 * thing. */
static const struct traced_queue *full_queue(const struct traced *x)
{
	const struct traced_queue *q = x->queue;

	if (q[OF_LDS].before > q[OF_VMEM].before)
		q++;
	return q->before >= QUEUE_LEAST / 2 && q->before + q->behind >= QUEUE_LEAST ? q : NULL;
}

/* --- sentences ------------------------------------------------------------------------------ */

static void say_bound_of(const struct traced *x, struct strbuf *b)
{
	const struct summary *s = x->side->summary;
	const struct verdict_unit_row *u = x->to->units.n ? x->to->units.v : NULL;
	const struct verdict_wait_row *w = x->to->waits.n ? x->to->waits.v : NULL;

	if (s && !s->bound.has_verdict)
		sb_printf(b, "not known: %s", s->bound.reason);
	else if (!u && w)
		sb_printf(b, "not known without counters; most time is lost to %s, %.0f %%",
			w->words, w->exposed_pct);
	else if (!u && x->side->trace->samples)
		sb_printf(
			b, "work: no sample found a %s waiting", vendor_row(x->side->trace)->wave);
	else if (!u)
		sb_printf(b, "not known: %s", vendor_row(x->side->trace)->no_cycles);
	else if (u->full_pct >= 100 * LEDGER_FULL)
		sb_printf(b, "%s: %.0f %% of what it can do", u->name,
			u->full_pct < 100 ? u->full_pct : 100);
	else if (full_queue(x))
		sb_printf(b,
			"a full %s queue: %.0f %% of wave time stands before it, %.0f %% waits for what is in it",
			full_queue(x)->name, 100 * full_queue(x)->before,
			100 * full_queue(x)->behind);
	else
		sb_printf(b, "latency: no unit is full (most: %s, %.0f %%)", u->name, u->peak_pct);
}

static void put_bound(struct traced *x)
{
	const struct summary *s = x->side->summary;
	const struct verdict_unit_row *u = x->to->units.n ? x->to->units.v : NULL;

	if (!u || (s && !s->bound.has_verdict))
		return;
	x->to->unit = u->full_pct < 100 * LEDGER_FULL && full_queue(x)
			      ? machine_unit_code(full_queue(x)->unit)
			      : u->unit;
	x->to->full_pct = u->full_pct < 100 ? u->full_pct : 100;
	x->to->bound = ledger_bound_name(u->full_pct >= 100 * LEDGER_FULL ? LEDGER_BY_UNIT
					 : full_queue(x)		  ? LEDGER_BY_QUEUE
									  : LEDGER_BY_LATENCY);
}

#define WAIT_LINES 2

/* The largest waits, with what the launch costs behind the first; clauses that do not fit go. */
static void put_largest(const struct traced *x, struct strbuf *b)
{
	const struct verdict_wait_row *w = x->to->waits.v, *first = NULL;
	double launch = 0;

	for (size_t i = 0; i < x->to->waits.n; i++)
		if (strcmp(w[i].reason, "launch-latency") == 0)
			launch = w[i].exposed_pct;
	for (size_t i = 0; i < x->to->waits.n; i++) {
		if (strcmp(w[i].reason, "launch-latency") == 0)
			continue;
		if (first && 2 * w[i].exposed_pct < first->exposed_pct)
			break;
		sb_printf(b, "%s%s, %.0f %%", first ? "; " : "", w[i].words, w[i].exposed_pct);
		if (!first && launch >= 1)
			sb_printf(b, "; launch latency, %.0f %%", launch);
		first = first ? first : &w[i];
	}
}

static bool put_sentences(struct traced *x, struct incore_error *e)
{
	const struct verdict_unit_row *u = x->to->units.v;
	const struct verdict_wait_row *w = x->to->waits.n ? x->to->waits.v : NULL;
	struct verdict_screen *s = &x->to->screen;
	struct strbuf b = {0};

	say_bound_of(x, &b);
	if (!verdict_keep_lines(x->a, &b, 1, &s->bound_by, e))
		return false;
	for (size_t i = 0; i < x->to->units.n && i < UNITS_SHOWN; i++)
		sb_printf(&b, "%s%s %.0f %%", i ? "  " : "", u[i].name, u[i].peak_pct);
	if (x->to->units.n && !verdict_keep(x->a, &b, &s->of_peak, e))
		return false;
	if (!w)
		return true;
	if (!isfinite(x->to->exposed_pct)) {
		sb_printf(&b, "%.0f %% of the time: %s", w->exposed_pct, w->words);
	} else if (x->side->trace->meta.gfx_major && x->side->trace->n_tracks) {
		sb_printf(&b, "%.0f %% of %s time is lost; most of it for ", x->to->exposed_pct,
			vendor_row(x->side->trace)->wave);
		put_largest(x, &b);
	} else {
		sb_printf(&b, "%.0f %% of %s time is lost; most of it, %.0f %%, for %s",
			x->to->exposed_pct, vendor_row(x->side->trace)->wave, w->exposed_pct,
			w->words);
	}
	return verdict_keep_lines(x->a, &b, WAIT_LINES, &s->waits, e);
}

/* "64 blocks x 256 threads", if that is known. */
static bool put_size(struct traced *x, struct incore_error *e)
{
	const struct trace *t = x->side->trace;
	const struct trace_launch *l = &t->meta.launch;
	int64_t threads = 1;
	struct strbuf b = {0};

	for (unsigned i = 0; i < 3; i++)
		threads *= l->workgroup[i] > 0 && l->workgroup[i] <= 1024 ? l->workgroup[i] : 1;
	if (l->workgroups <= 0 || l->workgroup[0] <= 0)
		return true;
	sb_printf(&b, "%lld %s%s x %lld threads", (long long)l->workgroups, vendor_row(t)->group,
		plural((uint64_t)l->workgroups), (long long)threads);
	return verdict_keep(x->a, &b, &x->to->size, e);
}

bool verdict_of_trace(struct answer *a, const struct advised *side, struct verdict_answer *to,
	struct incore_error *e)
{
	const struct trace *t = side->trace;
	struct traced x = {.a = a,
		.to = to,
		.side = side,
		.rates = machine_rates_find(t->meta.arch),
		.queue = {{.name = "VMEM", .unit = MACHINE_VMEM},
			{.name = "LDS", .unit = MACHINE_LDS}}};
	bool is_sum, ok; /* is_sum: the time of all samples is not that of a launch */

	to->missing = side->missing ? side->missing : vendor_row(t)->no_counters;
	is_sum = side->summary && side->summary->is_sampled &&
		 side->time.cycles == side->time.all_cyc;
	to->cycles = side->time.cycles && !is_sum && (!side->pipes || side->pipes->path.is_known)
			     ? (double)side->time.cycles
			     : NAN;
	to->rates = x.rates && side->summary && t->n_tracks ? x.rates->chip : NULL;
	to->rates_evidence = to->rates ? rate_evidence_name(x.rates->evidence) : NULL;
	if (trace_clock_mhz(t) > 0)
		to->us = to->cycles / trace_clock_mhz(t);
	ok = side->pipes
		     ? put_pipe_units(&x, e) && put_pipe_waits(&x, e)
		     : put_wave_units(&x, e) && (kind_row(t)->no_verdict || put_wave_waits(&x, e));
	put_bound(&x);
	return ok && put_size(&x, e) && put_advised(&x, e) && put_sentences(&x, e) &&
	       verdict_put_first(a, to, e);
}
