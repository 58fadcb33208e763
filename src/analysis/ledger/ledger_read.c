/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_read.c: the figures of a report, by name and by row. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/ledger/ledger_internal.h"
#include "base/search.h"
#include "isa/ncu_names.h"

ORDER(by_name, struct stated_figure, A_TO_Z(name))

/* A figure that the producer could not compute is written as nan: it was not counted. */
bool ledger_read_figures(struct ledger *l, struct ledger_figures *f, struct incore_error *e)
{
	const struct named_table *k = trace_find_table(l->trace, NCU_TABLE_METRICS);

	f->v = arena_zalloc(&l->arena, k ? (size_t)k->n_rows + 1 : 1, sizeof(*f->v));
	if (!f->v)
		return err_nomem(e);
	for (uint32_t i = 0; k && k->n_cols >= 2 && i < k->n_rows; i++) {
		const char *name = k->cells[(size_t)i * k->n_cols];
		const char *text = k->cells[(size_t)i * k->n_cols + 1];
		char *end = NULL;
		double value = text ? strtod(text, &end) : NAN;

		if (name && end != text && isfinite(value))
			f->v[f->n++] = (struct stated_figure){name, value};
	}
	SORT(f->v, f->n, by_name);
	return true;
}

double ledger_stated(const struct ledger_figures *f, const char *name)
{
	size_t lo = 0, hi = f->n;

	BISECT(lo, hi, i, strcmp(f->v[i].name, name) < 0);
	return lo < f->n && strcmp(f->v[lo].name, name) == 0 ? f->v[lo].value : NAN;
}

double ledger_counted(const struct ledger_figures *f, const char *name)
{
	double v = ledger_stated(f, name);

	return isfinite(v) && v > 0 ? v : 0;
}

double ledger_share(const struct ledger_figures *f, const char *counter, const char *of)
{
	char name[128];

	snprintf(name, sizeof(name), "%s.%s.pct_of_peak_sustained_elapsed", counter, of);
	return ledger_stated(f, name) / 100;
}

/* --- by row --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	size_t at; /* offset of a double of struct ledger_row */
} figures[] = {
	{"thread_inst_executed", offsetof(struct ledger_row, lanes)},
	{"thread_inst_executed_true", offsetof(struct ledger_row, lanes_on)},
	{"memory_l2_theoretical_sectors_global", offsetof(struct ledger_row, sectors)},
	{"memory_l2_theoretical_sectors_global_ideal", offsetof(struct ledger_row, ideal_sectors)},
	{"memory_l1_tag_requests_global", offsetof(struct ledger_row, lines)},
	{"memory_l2_theoretical_sectors_local", offsetof(struct ledger_row, local_sectors)},
	{"memory_l1_wavefronts_shared", offsetof(struct ledger_row, passes)},
	{"memory_l1_wavefronts_shared_ideal", offsetof(struct ledger_row, ideal_passes)},
	{"smsp__branch_targets_threads_divergent", offsetof(struct ledger_row, divergent)},
};

static double figure_at(const struct code_metric *m, uint32_t i)
{
	double v = (double)m->value[i];

	if (m->is_real)
		memcpy(&v, &m->value[i], sizeof(v));
	return isfinite(v) && v > 0 ? v : 0;
}

static void take_figure(struct ledger *l, const struct code_metric *m, size_t at)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->row[i] < l->trace->n_code)
			*(double *)((char *)&l->rows[m->row[i]] + at) = figure_at(m, i);
}

static enum ledger_wait_id ledger_read_wait_of(const char *reason)
{
	for (unsigned w = 0; w < LEDGER_WAITS; w++)
		if (strcmp(ledger_wait_code((enum ledger_wait_id)w), reason) == 0)
			return (enum ledger_wait_id)w;
	return LEDGER_MISC;
}

/* Time counts that no instruction was issued in; a reason that is no stall is left out. */
static void take_samples(struct ledger *l)
{
	const struct trace *t = l->trace;

	for (uint32_t k = 0; t->samples && k < t->n_reasons; k++) {
		enum ledger_wait_id w = ledger_read_wait_of(t->reasons[k]);

		if (strcmp(t->reasons[k], "not_selected") == 0)
			continue;
		for (code_idx i = 0; i < t->n_code; i++)
			l->rows[i].exposed[w] += (double)trace_reasons_of(t, i)[k].not_issued;
	}
	for (code_idx i = 0; t->samples && i < t->n_code; i++)
		l->samples += (double)t->samples[i].issued + (double)t->samples[i].stalled;
}

/* A scoreboard of sources is released when the memory unit has taken them: who waits for nothing
 * else stands before a queue. */
static bool waits_for_room(const struct trace *t, code_idx row)
{
	bool is_read = false;
	uint32_t n;
	const struct code_link *v = trace_links_of(t, row, &n);

	for (uint32_t i = 0; i < n; i++) {
		if (v[i].kind == CODE_LINK_READ)
			is_read = true;
		else if (v[i].kind < CODE_LINK_STALL && v[i].reason != NO_REASON)
			return false;
	}
	return is_read;
}

bool ledger_read_rows(struct ledger *l, struct incore_error *e)
{
	const struct trace *t = l->trace;

	l->rows = arena_zalloc(&l->arena, (size_t)t->n_code + 1, sizeof(*l->rows));
	if (!l->rows)
		return err_nomem(e);
	for (code_idx i = 0; i < t->n_code; i++) {
		const char *text = t->code[i].text;
		const char *blank = text[0] == '@' ? strchr(text, ' ') : NULL;

		l->rows[i].op = blank ? blank + 1 : text;
		l->rows[i].n = (double)t->code[i].stated.hit;
		l->rows[i].is_behind_queue = waits_for_room(t, i);
	}
	for (uint32_t k = 0; k < t->n_metrics; k++)
		for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
			if (strcmp(t->metrics[k].name, figures[i].name) == 0)
				take_figure(l, &t->metrics[k], figures[i].at);
	take_samples(l);
	return true;
}

/* --- by opcode ------------------------------------------------------------------------------ */

bool ledger_is_op(const struct ledger_row *r, const char *name)
{
	size_t n = strlen(name);
	char next = strncmp(r->op, name, n) == 0 ? r->op[n] : 'x';

	return next == '\0' || next == ' ' || next == '.';
}

bool ledger_is_any(const struct ledger_row *r, const char *names)
{
	char name[24];

	while (*names) {
		size_t n = strcspn(names, " ");

		if (n < sizeof(name)) {
			memcpy(name, names, n);
			name[n] = '\0';
			if (ledger_is_op(r, name))
				return true;
		}
		names += n + strspn(names + n, " ");
	}
	return false;
}

double ledger_count(const struct ledger *l, const char *names)
{
	double sum = 0;

	for (code_idx i = 0; i < l->trace->n_code; i++)
		if (l->rows[i].n > 0 && ledger_is_any(&l->rows[i], names))
			sum += l->rows[i].n;
	return sum;
}
