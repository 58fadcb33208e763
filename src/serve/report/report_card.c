/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_card.c: what a report says first, and the pieces that it is made of. Parts: pieces; the
 * card.
 */
#include <string.h>

#include "answer/verdict/summary.h"
#include "codec/gzip.h"
#include "page/group.h"
#include "serve/report/report.h"
#include "trace/kind.h"

/* --- pieces ----------------------------------------------------------------------------------- */

/*
 * Packing of bytes, and texts common to both forms of the report.
 */

#define LINE_CHARS 120u

static void put_base64(struct strbuf *b, struct str bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *p = (const uint8_t *)bytes.p;

	for (size_t i = 0; i < bytes.n; i += 3) {
		unsigned left = bytes.n - i > 2 ? 3 : (unsigned)(bytes.n - i);
		uint32_t v = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
			     (left > 2 ? p[i + 2] : 0);
		char four[4] = {digits[v >> 18], digits[v >> 12 & 63], '=', '='};

		if (left > 1)
			four[2] = digits[v >> 6 & 63];
		if (left > 2)
			four[3] = digits[v & 63];

		sb_add(b, four, sizeof(four));
		if ((i / 3 + 1) * 4 % LINE_CHARS == 0)
			sb_putc(b, '\n');
	}
}

bool report_pack(struct str bytes, struct strbuf *out)
{
	struct strbuf packed = {0};
	bool ok = gzip_pack(bytes, &packed);

	if (ok && sb_reserve(out, packed.n / 3 * 4 + packed.n / 90 * 2 + 16))
		put_base64(out, (struct str){packed.p, packed.n});
	sb_free(&packed);
	return ok && !out->failed;
}

void report_put_count(struct strbuf *b, uint64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v);

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			sb_putc(b, ',');
		sb_putc(b, digits[i]);
	}
}

const char *report_evidence(const struct report *r)
{
	enum evidence a = r->view->trace->meta.evidence;

	if (r->second && r->second->trace->meta.evidence != a)
		return "The two rest on different evidence: what holds of one need not hold of the other.";
	switch (a) {
	case EVIDENCE_ESTIMATE:
		return "These figures are an estimate of a model, not a measurement.";
	case EVIDENCE_SYNTHETIC:
		return "A generator made this capture up: the figures are of no machine.";
	case EVIDENCE_VENDOR_SIMULATOR:
		return "These figures come from a vendor's simulator, not from hardware.";
	case EVIDENCE_HARDWARE_SAMPLE:
		return trace_kind(r->view->trace) == KIND_SAMPLES
			       ? "These figures are samples: cycles are samples x period, each with its sampling error."
			       : "These figures are samples: counts, not cycles.";
	case EVIDENCE_INSTRUMENTED:
		return "These figures were recorded by the kernel itself, which was changed for it: its own records take time too.";
	default:
		return "Cycles were measured by the hardware's thread trace on the waves named under coverage; sums and shares are derived from them, and what is modelled or inferred says so where it stands.";
	}
}

/* --- the card --------------------------------------------------------------------------------- */

/*
 * The first part of a report: its title, the verdict, the split, what to try; shared by both forms
 * of the report.
 */

static void take_buckets(struct report_card *c, const struct accounting *a)
{
	c->bucket[BUCKET_ISSUE] = a->bucket.issue;
	c->bucket[BUCKET_STALL] = a->bucket.stall;
	c->bucket[BUCKET_WAIT] = a->bucket.wait;
	c->bucket[BUCKET_IDLE] = a->bucket.idle;
	c->bucket[BUCKET_DRAIN] = a->bucket.drain;
	c->all_cyc = a->duration;
}

static void take_advice(struct report_card *c, struct rows advice)
{
	c->advice = advice.v;
	c->n_advice = advice.n < REPORT_TRIES ? advice.n : REPORT_TRIES;
}

void report_card_make(struct report_card *c, const struct answer *summary)
{
	*c = (struct report_card){0};
	if (answer_is(summary, &summary_pipes_record)) {
		const struct summary_pipes *s = summary->data;

		c->verdict = &s->screen;
		take_buckets(c, &s->pipes.accounting);
		take_advice(c, s->advice);
	} else {
		const struct summary_answer *s = summary->data;

		c->verdict = &s->screen;
		take_buckets(c, &s->accounting);
		take_advice(c, s->advice);
	}
}

/* --- the title --- */

/* The part of a path that differs from another, in whole components; its name if they are equal. */
static struct str own_part(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n, from = 0, tail = 0;

	for (size_t i = 0; i < n && a.p[i] == b.p[i]; i++)
		if (a.p[i] == '/')
			from = i + 1;
	for (size_t i = 0; i < n - from && a.p[a.n - 1 - i] == b.p[b.n - 1 - i]; i++)
		if (a.p[a.n - 1 - i] == '/')
			tail = i + 1;
	if (from + tail >= a.n)
		return str_sub(a, (size_t)(str_rfind_char(a, '/') + 1), a.n);
	return str_sub(a, from, a.n - from - tail);
}

static struct str report_card_path_of(const struct trace *t)
{
	return str_of(t->meta.origin ? t->meta.origin : "");
}

static const char *report_card_kernel_of(const struct trace *t)
{
	return t->meta.kernel ? t->meta.kernel : "kernel of unknown name";
}

void report_title(const struct report *r, struct strbuf *out)
{
	const struct trace *a = r->view->trace, *b = r->second ? r->second->trace : NULL;
	const char *arrow = r->is_compared ? " -> " : " and ";

	sb_puts(out, report_card_kernel_of(a));
	if (!b)
		return;
	if (strcmp(report_card_kernel_of(a), report_card_kernel_of(b)) != 0)
		sb_printf(out, "%s%s", arrow, report_card_kernel_of(b));
	sb_printf(out, ": %.*s%s%.*s",
		STR_ARG(own_part(report_card_path_of(a), report_card_path_of(b))), arrow,
		STR_ARG(own_part(report_card_path_of(b), report_card_path_of(a))));
}

void report_capture_title(const struct report *r, unsigned capture, struct strbuf *out)
{
	const struct trace *t = (capture ? r->second : r->view)->trace;

	sb_printf(out, "%c: %s, %.*s", capture ? 'B' : 'A', report_card_kernel_of(t),
		STR_ARG(report_card_path_of(t)));
}

void report_evidence_words(const struct report *r, struct strbuf *out)
{
	enum evidence a = r->view->trace->meta.evidence;
	enum evidence b = r->second ? r->second->trace->meta.evidence : a;

	if (a == b)
		sb_puts(out, evidence_name(a));
	else
		sb_printf(out, "A %s, B %s", evidence_name(a), evidence_name(b));
}

void report_put_gain(const struct advice_row *a, struct strbuf *b)
{
	const struct advice_gain *g = a->gain;

	if (g && !g->does_nothing)
		sb_printf(b, "saves %.0f %%, %.0f to %.0f", g->pct, g->least_pct, g->most_pct);
	else
		sb_printf(b, "%.1f %% exposed", isfinite(a->share_pct) ? a->share_pct : 0);
}

size_t report_after_card(const struct page *summary)
{
	struct block_group g;
	size_t at = 0;

	page_next_group(summary, &at, &g); /* the name and the launch */
	page_next_group(summary, &at, &g);
	return at;
}
