/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_rules_totals.c: do the producer's stated figures match its waves? Totals per code row,
 * state series, wait lists.
 */
#include "analysis/check/check_internal.h"
#include "analysis/waves/states.h"

static bool totals_differ(const struct code_totals *a, const struct code_totals *b)
{
	return a->hit != b->hit || a->latency != b->latency || a->stall != b->stall ||
	       a->idle != b->idle;
}

static void add_totals(struct code_totals *to, const struct code_totals *r)
{
	to->hit += r->hit;
	to->latency += r->latency;
	to->stall += r->stall;
	to->idle += r->idle;
}

void rule_totals(struct check *c)
{
	const struct trace *t = c->trace;
	struct code_totals stated = {0}, ours = {0};
	uint32_t n = 0;
	code_idx first = NO_CODE;
	struct finding *f;

	if (!t->has_stated_totals || check_is_sampled(c))
		return;
	for (code_idx i = 0; i < t->n_code; i++) {
		add_totals(&stated, &t->code[i].stated);
		add_totals(&ours, &c->gather->rows[i]);
		if (!totals_differ(&t->code[i].stated, &c->gather->rows[i]))
			continue;
		n++;
		first = first == NO_CODE ? i : first;
	}
	if (!n)
		return;
	f = check_add(c, "inconsistent-totals", SEVERITY_WARNING, VERDICT_SUSPECT);
	finding_say(c, f,
		"stated totals of %u of %u rows differ from those of the waves; the recomputed ones are shown",
		n, c->gather->n_instructions);
	fact_int(f, "rows_that_differ", n);
	fact_int(f, "rows", c->gather->n_instructions);
	fact_int(f, "first_row", t->code[first].number);
	fact_int(f, "stated_hit", (int64_t)stated.hit);
	fact_int(f, "hit", (int64_t)ours.hit);
	fact_int(f, "stated_latency", (int64_t)stated.latency);
	fact_int(f, "latency", (int64_t)ours.latency);
	fact_int(f, "stated_stall", (int64_t)stated.stall);
	fact_int(f, "stall", (int64_t)ours.stall);
	fact_int(f, "stated_idle", (int64_t)stated.idle);
	fact_int(f, "idle", (int64_t)ours.idle);
	finding_advise(c, f,
		"waves are missing or files of two captures are mixed; trust neither until it is explained");
}

/* The stated series of one state as changes. */
static struct series_print stated_print(const struct stated_series *s)
{
	struct series_print p = {0};
	int64_t before = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		series_add(&p, s->time_cyc[i], (int64_t)s->count[i] - before);
		before = s->count[i];
	}
	return p;
}

void rule_states(struct check *c)
{
	const struct trace *t = c->trace;
	const struct check_gather *g = c->gather;
	struct series_print stated[STATE_COUNT] = {{0}};
	struct strbuf list = {0};
	unsigned n = 0;
	struct finding *f;

	if (!t->n_stated_series)
		return;
	for (uint32_t i = 0; i < t->n_stated_series; i++)
		if (t->stated_series[i].state < STATE_COUNT) {
			struct series_print p = stated_print(&t->stated_series[i]);

			stated[t->stated_series[i].state].lo += p.lo;
			stated[t->stated_series[i].state].hi += p.hi;
		}
	for (unsigned s = 0; s < STATE_COUNT; s++)
		if (stated[s].lo != g->states[s].lo || stated[s].hi != g->states[s].hi)
			sb_printf(&list, "%s%s", n++ ? ", " : "", state_name((enum wave_state)s));
	f = n ? check_add(c, "inconsistent-states", SEVERITY_WARNING, VERDICT_SUSPECT) : NULL;
	if (f) {
		finding_say(c, f,
			"the stated series of waves in state %s differ from the waves' own timelines",
			check_text(c, &list));
		fact_text(c, f, "states", "%s", check_text(c, &list));
		fact_int(f, "series", t->n_stated_series);
		finding_advise(c, f,
			"waves are missing or files of two captures are mixed; the timelines are what is shown");
	}
	sb_free(&list);
}

void rule_waits(struct check *c)
{
	const struct trace *t = c->trace;
	uint64_t n_wrong = 0, n_unstated = 0, n = 0;
	track_idx first = 0;
	struct finding *f;

	for (track_idx i = 0; i < t->n_tracks; i++) {
		unsigned flaws = c->gather->tracks[i].flaws;

		n += c->gather->tracks[i].is_read;
		n_unstated += (flaws & FLAW_UNSTATED) != 0;
		if (flaws & FLAW_WAITS && !n_wrong++)
			first = i;
	}
	/* a format without wait lists cannot state wrong ones */
	if (!n_wrong)
		return;
	f = check_add(c, "inconsistent-waits", SEVERITY_WARNING, VERDICT_SUSPECT);
	finding_say(c, f,
		"stored wait lists of %llu of %llu waves are not those of their records (first: %s)",
		(unsigned long long)n_wrong, (unsigned long long)n, t->tracks[first].name);
	fact_int(f, "waves_that_differ", (int64_t)n_wrong);
	fact_int(f, "waves", (int64_t)n);
	fact_int(f, "waves_without_list", (int64_t)n_unstated);
	finding_advise(
		c, f, "producers are computed from the records; the stored lists are not used");
}
