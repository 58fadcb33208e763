/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_check.c: incore check: can this capture be trusted, drawn as a list of findings. */
#include "analysis/pipes/pipe_sweep.h"
#include "answer/check.h"
#include "cli/ask.h"
#include "cli/text/record_table.h"
#include "cli/text/say.h"
#include "cli/text/table.h"

static enum cell_style severity_style(enum severity s)
{
	static const enum cell_style styles[] = {CELL_BAD, CELL_WARM, CELL_DIM};

	return styles[s];
}

static enum cell_style verdict_style(enum verdict v)
{
	static const enum cell_style styles[] = {CELL_GOOD, CELL_WARM, CELL_BAD};

	return styles[v];
}

static void print_finding(struct cli *c, const struct finding_row *f)
{
	say(c->out, "%s%-7s%s  %s\n", style_on(c, severity_style(f->level)), f->severity,
		style_off(c), f->id);
	say(c->out, "%9s", "");
	cli_wrapped(c, f->message, 9, 9);
	if (f->evidence_text[0]) {
		say(c->out, "%9sevidence: ", "");
		cli_wrapped(c, f->evidence_text, 19, 19);
	}
	say(c->out, "%9sadvice:   ", "");
	cli_wrapped(c, f->advice, 19, 19);
}

static void print_heading(const struct cli *c, const struct trace *t)
{
	bool is_by_row = trace_is_sampled(t); /* samples have no waves */
	uint32_t n = is_by_row ? t->n_code : t->n_tracks;

	say(c->out, "%s  %s  %u %s%s  %s\n\n", t->meta.kernel ? t->meta.kernel : "(no kernel)",
		t->meta.arch ? t->meta.arch : "(unknown target)", n,
		is_by_row ? "row" : track_word(t), plural(n),
		evidence_text(t, (char[EVIDENCE_TEXT]){0}));
}

static void print_findings(struct cli *c, const struct checked_row *x)
{
	const struct finding_row *v = x->check.findings.v;
	unsigned n[SEVERITY_COUNT] = {0};

	for (size_t i = 0; i < x->check.findings.n; i++) {
		print_finding(c, &v[i]);
		n[v[i].level]++;
	}
	say(c->out, "verdict: %s%s%s (%u error%s, %u warning%s, %u info)\n",
		style_on(c, verdict_style(x->verdict)), x->check.verdict, style_off(c),
		n[SEVERITY_ERROR], plural(n[SEVERITY_ERROR]), n[SEVERITY_WARNING],
		plural(n[SEVERITY_WARNING]), n[SEVERITY_INFO]);
}

static void print_explain(FILE *out)
{
	fputs("\n"
	      "Each rule compares files of the capture with each other or with what its waves "
	      "give; a\n"
	      "finding states the figures it rests on. The verdict is the worst effect of all "
	      "findings\n"
	      "on the cycles: ok, suspect or unusable. Source lines do not enter. Totals per row, "
	      "state\n"
	      "series and wait lists are computed again from the wave files and must equal what "
	      "the\n"
	      "producer stated, exactly. incore-check(1) lists every rule.\n",
		out);
}

/* Chosen captures in full, the others in a line each. */
static void draw_text(struct cli *c, const struct check_answer *a, const struct answer *answer)
{
	const struct checked_row *v = a->checked.v;
	size_t n_trace = 0;

	for (size_t i = 0; i < a->checked.n; i++) {
		if (!v[i].is_chosen)
			continue;
		if (a->checked.n > 1 && n_trace)
			fputc('\n', c->out);
		if (a->checked.n > 1)
			say(c->out, "%s\n", v[i].path);
		print_heading(c, answer->traces.v[n_trace++]);
		print_findings(c, &v[i]);
	}
	if (a->checked.n > n_trace)
		say(c->out, "\nother captures here:\n");
	for (size_t i = 0; i < a->checked.n; i++)
		if (!v[i].is_chosen)
			say(c->out, "  %s  %s%s%s\n", path_base(v[i].path),
				style_on(c, verdict_style(v[i].verdict)), v[i].health,
				style_off(c));
	if (cli_flag(c, "explain"))
		print_explain(c->out);
}

static bool draw_check(struct cli *c, const struct answer *answer)
{
	static const char *const columns[] = {
		"capture", "verdict", "id", "severity", "message", "evidence_text", "advice", NULL};
	const struct check_answer *a = answer->data;

	if (c->use_csv)
		return record_table_print(c, &finding_record, a->every_finding, columns);
	draw_text(c, a, answer);
	return true;
}

extern const struct question question_check;
const struct verb verb_check = {
	.name = "check",
	.question = &question_check,
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.draw = draw_check,
};
