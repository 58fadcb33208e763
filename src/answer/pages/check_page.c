/* SPDX-License-Identifier: Apache-2.0 */
/* check_page.c: can this capture be trusted, as a list of findings. */
#include "analysis/pipes/pipe_sweep.h"
#include "answer/check.h"
#include "answer/pages.h"

static const enum cell_style severity_styles[] = {CELL_DIM, CELL_WARM, CELL_BAD};
static const enum cell_style verdict_styles[] = {CELL_GOOD, CELL_WARM, CELL_BAD};

static void put_finding(struct page *p, const struct finding_row *f)
{
	page_line(p, "%s%-7s%s  %s", style_mark(severity_styles[f->level]), f->severity,
		style_mark_end, f->id);
	page_prose(p, "         ", "%s", f->message);
	if (f->evidence_text[0])
		page_prose(p, "         evidence: ", "%s", f->evidence_text);
	page_prose(p, "         advice:   ", "%s", f->advice);
}

static void check_page_put_note(struct page *p, const struct noted_row *x)
{
	page_line(p, "%-7s  %s (%s)", "note", x->code, x->kind);
	page_prose(p, "         ", "%s", x->message);
	page_prose(p, "         advice:   ", "%s", x->advice);
}

static void put_heading(struct page *p, const struct trace *t)
{
	const struct kind_row *k = kind_row(t);
	uint32_t n = trace_kind(t) == KIND_SAMPLES ? t->n_code : t->n_tracks;

	page_line(p, "%s  %s  %u %s%s  %s", t->meta.kernel ? t->meta.kernel : "(no kernel)",
		t->meta.arch ? t->meta.arch : "(unknown target)", n, k->part, plural(n),
		evidence_text(t, (char[EVIDENCE_TEXT]){0}));
	page_gap(p);
}

static void check_page_put_findings(struct page *p, const struct checked_row *x)
{
	const struct finding_row *v = x->check.findings.v;
	unsigned n[NOTE_WEIGHTS] = {0};

	for (size_t i = 0; i < x->check.findings.n; i++) {
		put_finding(p, &v[i]);
		n[v[i].level]++;
	}
	for (size_t i = 0; i < x->notes.n; i++)
		check_page_put_note(p, (const struct noted_row *)x->notes.v + i);
	page_line(p, "verdict: %s%s%s (%u error%s, %u warning%s, %u info)",
		style_mark(verdict_styles[x->verdict]), x->check.verdict, style_mark_end,
		n[WEIGHT_ERROR], plural(n[WEIGHT_ERROR]), n[WEIGHT_WARNING],
		plural(n[WEIGHT_WARNING]), n[WEIGHT_INFO]);
}

static const char explanation[] =
	"\n"
	"Each rule compares files of the capture with each other or with what its waves give; a\n"
	"finding states the figures it rests on. The verdict is the worst effect of all findings\n"
	"on the cycles: ok, suspect or unusable. Source lines do not enter. Totals per row, state\n"
	"series and wait lists are computed again from the wave files and must equal what the\n"
	"producer stated, exactly. incore-check(1) lists every rule.\n";

/* Shows chosen captures in full, the others in one line each. */
static void put_captures(struct page *p, const struct check_answer *a, const struct answer *answer)
{
	const struct checked_row *v = a->checked.v;
	size_t n_trace = 0;

	for (size_t i = 0; i < a->checked.n; i++) {
		if (!v[i].is_chosen)
			continue;
		if (a->checked.n > 1 && n_trace)
			page_gap(p);
		if (a->checked.n > 1)
			page_line(p, "%s", v[i].path);
		put_heading(p, answer->traces.v[n_trace++]);
		check_page_put_findings(p, &v[i]);
	}
	if (a->checked.n > n_trace) {
		page_gap(p);
		page_line(p, "other captures here:");
	}
	for (size_t i = 0; i < a->checked.n; i++)
		if (!v[i].is_chosen)
			page_line(p, "  %s  %s%s%s", path_base(v[i].path),
				style_mark(verdict_styles[v[i].verdict]), v[i].health,
				style_mark_end);
}

void check_page(const struct answer *answer, struct page *p)
{
	static const char *const columns[] = {
		"capture", "verdict", "id", "severity", "message", "evidence_text", "advice", NULL};
	const struct check_answer *a = answer->data;

	if (p->is_csv) {
		page_main_records(p, &finding_record, a->every_finding, columns);
		return;
	}
	put_captures(p, a, answer);
	if (p->explains)
		page_lines(p, explanation);
}
