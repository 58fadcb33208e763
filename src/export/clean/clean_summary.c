/* SPDX-License-Identifier: Apache-2.0 */
/* clean_summary.c: a page of text on where a cleaned trace comes from and what its pipes did. */
#include "export/clean/clean_write.h"

/* Writes the two costliest waits, as "MTE2 1.400 (1)". */
static void put_waits(const struct clean *c, uint32_t lane, struct strbuf *b)
{
	unsigned n = 0;

	for (size_t i = 0; i < c->waits.n && n < 2; i++) {
		const struct clean_wait *w = &c->waits.v[i];

		if (w->lane != lane)
			continue;
		sb_printf(b, "%s", n ? ", " : "");
		if (w->producer == CLEAN_BY_NOBODY)
			sb_puts(b, "unmatched");
		else if (w->producer == CLEAN_BY_BARRIER)
			sb_puts(b, "BAR");
		else if (w->producer == CLEAN_BY_BUFFER)
			sb_puts(b, "BUF");
		else
			sb_str(b, c->lanes.v[w->producer].pipe);
		sb_printf(b, " %.3f (%llu)", w->exposed, (unsigned long long)w->n);
		n++;
	}
}

static bool put_lane(const struct clean *c, uint32_t i, FILE *f)
{
	const struct clean_lane *k = &c->lanes.v[i];
	struct strbuf name = {0}, waits = {0};
	bool ok;

	sb_printf(&name, "%.*s/%.*s", STR_ARG(k->pid), STR_ARG(k->pipe));
	put_waits(c, i, &waits);
	ok = !name.failed && !waits.failed;
	if (ok)
		fprintf(f, "%-28s %9llu %12.3f %12.3f %5u %5u  %s\n", name.p,
			(unsigned long long)k->sum.n, k->busy, k->sum.length_sum, k->sum.depth_max,
			k->n_rows, waits.n ? waits.p : "-");
	sb_free(&name);
	sb_free(&waits);
	return ok;
}

static bool put_lanes(const struct clean *c, FILE *f)
{
	VEC(uint32_t) v = {0};
	bool ok = true;

	for (uint32_t i = 0; ok && i < c->lanes.n; i += 2) {
		size_t k;

		if (!c->lanes.v[i].is_kept || !(c->lanes.v[i].sum.n || c->lanes.v[i + 1].sum.n))
			continue;
		ok = VEC_PUSH(&v, i);
		for (k = v.n - 1; ok && k > 0 && clean_compare_lanes(c, i, v.v[k - 1]) < 0; k--)
			v.v[k] = v.v[k - 1];
		if (ok)
			v.v[k] = i;
	}
	for (size_t i = 0; ok && i < v.n; i++)
		ok = put_lane(c, v.v[i], f);
	VEC_FREE(&v);
	return ok;
}

static void put_dropped(const struct clean *c, FILE *f)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->lanes.n; i++)
		if (!c->lanes.v[i].is_kept)
			n += c->lanes.v[i].n;
	fprintf(f,
		"left out     %llu slices of lanes that were not asked for (--keep-scalar, --keep-all)\n",
		(unsigned long long)n);
}

bool clean_write_summary(
	const struct clean *c, const struct clean_about *a, FILE *f, struct incore_error *e)
{
	const char *unit = c->ticks_per_unit == 1 ? "us" : "cyc";
	bool ok;

	fprintf(f, "kernel       %s\n", a->kernel ? a->kernel : "?");
	fprintf(f, "input        %s (%llu bytes)\n", a->input ? a->input : "?",
		(unsigned long long)a->input_bytes);
	fprintf(f, "evidence     %s\n", a->evidence ? a->evidence : "vendor-simulator");
	fprintf(f, "made by      incore " INCORE_VERSION "\n");
	fprintf(f, "time         %s\n",
		a->clock ? a->clock : "microseconds as the simulator wrote them");
	fprintf(f, "slices       %zu kept of %llu events\n", c->slices.n,
		(unsigned long long)c->n_events);
	put_dropped(c, f);
	fprintf(f,
		"arrows       %zu; %llu SET and %llu WAIT without a partner, %llu on lanes left out, %llu without an instruction beside\n",
		c->arrows.n, (unsigned long long)c->n_unmatched_sets,
		(unsigned long long)c->n_unmatched_waits, (unsigned long long)c->n_hidden_arrows,
		(unsigned long long)c->n_no_anchor);
	if (c->unmatched.n)
		fprintf(f, "unmatched    %s\n", c->unmatched.p);
	fprintf(f, "\n%-28s %9s %8s[%s] %8s[%s] %5s %5s  %s\n", "core/pipe", "slices", "busy", unit,
		"sum", unit, "depth", "rows", "waits for (exposed, times)");
	ok = put_lanes(c, f);
	fputs("\nbusy is the measure of the union of instructions (flags, barriers and locks left out); sum counts overlap\n"
	      "several times; a wait counts where its own pipe did not work.\n",
		f);
	if (!ok)
		return err_nomem(e);
	return !ferror(f) || err_write(e);
}
