/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_check.c: `incore check`: can this capture be trusted? Findings with evidence and advice. */
#include "analysis/check/check.h"
#include "analysis/pipes/pipe_sweep.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/siblings.h"
#include "cli/text/table.h"

struct checked {
	char *path;
	struct check *check;
	bool is_chosen; /* the one its path stands for */
};

struct run {
	struct cli *c;
	VEC(struct checked) v;
	VEC(struct trace *) traces; /* of the chosen ones, for the envelope */
};

static bool check_trace(
	struct run *r, struct trace *t, const struct check_context *ctx, struct checked *out)
{
	struct walk_result walk = {0};
	struct walk_options o = cli_walk_options(r->c, NULL);

	out->check = check_run(t, ctx, &o, &walk, &r->c->error);
	if (out->check && out->is_chosen) {
		cli_notes(r->c, t->notes, t->n_notes);
		cli_walk_notes(r->c, &walk);
	}
	walk_result_deinit(&walk);
	return out->check != NULL;
}

/* One capture of several that cannot be read does not hide the others. */
static bool skip_unreadable(struct run *r, const struct capture *k, bool is_alone)
{
	struct strbuf why = {0};

	if (is_alone || r->c->error.status != INCORE_BAD_INPUT)
		return false;
	err_format(&r->c->error, &why);
	cli_warn(r->c, "%s left out: %s", k->path, why.p ? why.p : "cannot be read");
	r->c->n_losses++;
	sb_free(&why);
	incore_error_clear(&r->c->error);
	return true;
}

static bool check_capture(struct run *r, const struct capture *k, const struct capture_list *all,
	bool is_chosen, bool is_alone)
{
	struct import_options o = cli_import_options(r->c, IMPORT_ALL);
	struct checked x = {.is_chosen = is_chosen};
	struct siblings s = {0};
	struct trace *t = NULL;
	bool ok = false;

	if (!import_read(k, &o, &t, &r->c->error)) {
		ok = skip_unreadable(r, k, is_alone);
		goto out;
	}
	if (!siblings_find(&s, k, all, r->c->captures, &r->c->error))
		goto out;
	x.path = mem_strndup(k->path, strlen(k->path));
	if (!x.path || !check_trace(r, t, &s.ctx, &x))
		goto out;
	x.check->ctx = NULL;
	if (!VEC_PUSH(&r->v, x)) {
		err_nomem(&r->c->error);
		goto out;
	}
	x = (struct checked){0};
	ok = true;
	if (is_chosen) {
		ok = VEC_PUSH(&r->traces, t) || err_nomem(&r->c->error);
		t = ok ? NULL : t;
	}
out:
	check_free(x.check);
	mem_free(x.path);
	trace_free(t);
	siblings_deinit(&s);
	return ok;
}

static bool check_path(struct run *r, const char *path)
{
	struct capture_choice choice = cli_choice(r->c);
	struct capture_list list = {0};
	const struct capture **ranked = NULL;
	uint32_t n;
	size_t before = r->v.n;
	bool ok = true;

	if (!import_find(path, r->c->captures, &list, &r->c->error))
		return false;
	ranked = mem_zalloc(list.n + 1, sizeof(*ranked));
	n = ranked ? captures_rank(&list, r->c->captures, choice, ranked) : 0;
	if (!ranked)
		ok = err_nomem(&r->c->error);
	else if (!n)
		ok = err_set(&r->c->error, INCORE_USAGE, "no-such-capture",
			"none of the %u captures below '%s' is the one asked for", list.n, path);
	for (uint32_t i = 0; ok && i < list.n; i++)
		if (capture_is(&list.v[i], choice))
			ok = check_capture(r, &list.v[i], list.n > 1 ? &list : NULL,
				&list.v[i] == ranked[0], n == 1);
	if (ok && r->v.n == before)
		ok = err_set(&r->c->error, INCORE_BAD_INPUT, "unreadable",
			"none of the %u captures below '%s' can be read", n, path);
	mem_free(ranked);
	capture_list_deinit(&list);
	return ok;
}

/* The chosen capture with the worst verdict: what the answer as a whole is about. */
static const struct checked *worst(const struct run *r)
{
	const struct checked *best = NULL;

	for (size_t i = 0; i < r->v.n; i++) {
		const struct checked *x = &r->v.v[i];

		if (!x->is_chosen && best)
			continue;
		if (!best || !best->is_chosen || x->check->verdict > best->check->verdict)
			best = x;
	}
	return best;
}

static int exit_status(const struct run *r)
{
	return worst(r)->check->verdict == VERDICT_UNUSABLE ? INCORE_NO : INCORE_OK;
}

static bool print_json(struct run *r)
{
	struct json_writer w;

	cli_json_begin(r->c, &w, (const struct trace *const *)r->traces.v, r->traces.n);
	json_w_object(&w);
	json_w_kv_cstr(&w, "evidence",
		evidence_name(r->traces.n ? r->traces.v[0]->meta.evidence : EVIDENCE_UNKNOWN));
	check_json(worst(r)->check, &w);
	if (r->v.n > 1) {
		json_w_key(&w, "captures");
		json_w_array(&w);
		for (size_t i = 0; i < r->v.n; i++) {
			json_w_object(&w);
			json_w_kv_cstr(&w, "path", r->v.v[i].path);
			json_w_kv_bool(&w, "is_chosen", r->v.v[i].is_chosen);
			check_json(r->v.v[i].check, &w);
			json_w_end(&w);
		}
		json_w_end(&w);
	}
	json_w_end(&w);
	return cli_json_end(r->c, &w);
}

static bool print_csv(struct run *r)
{
	static const struct table_column columns[] = {
		{"capture", NULL, CELL_LEFT, false},
		{"verdict", NULL, CELL_LEFT, false},
		{"id", NULL, CELL_LEFT, false},
		{"severity", NULL, CELL_LEFT, false},
		{"message", NULL, CELL_LEFT, false},
		{"evidence", NULL, CELL_LEFT, false},
		{"advice", NULL, CELL_LEFT, false},
	};
	struct table t;
	bool ok;

	table_init(&t, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < r->v.n; i++) {
		const struct check *k = r->v.v[i].check;

		for (uint32_t j = 0; j < k->n_findings; j++) {
			const struct finding *f = &k->findings[j];
			struct strbuf b = {0};

			finding_put_evidence(f, &b);
			table_cstr(&t, r->v.v[i].path);
			table_cstr(&t, verdict_name(k->verdict));
			table_cstr(&t, f->id);
			table_cstr(&t, severity_name(f->severity));
			table_cstr(&t, f->message);
			table_cstr(&t, b.p ? b.p : "");
			table_cstr(&t, f->advice);
			sb_free(&b);
		}
	}
	ok = table_print(&t, r->c);
	table_deinit(&t);
	return ok || err_nomem(&r->c->error);
}

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

/* Words of s, broken to fit, each line after `indent` blanks. */
static void put_wrapped(const struct cli *c, const char *s, unsigned first, unsigned indent)
{
	unsigned width = c->width > 40 ? c->width : 120, at = first;

	while (*s) {
		size_t n = strcspn(s, " ");

		if (at + n + 1 > width && at > indent) {
			fprintf(c->out, "\n%*s", (int)indent, "");
			at = indent;
		}
		fprintf(c->out, "%s%.*s", at > indent ? " " : "", (int)n, s);
		at += (unsigned)n + (at > indent);
		s += n;
		s += strspn(s, " ");
	}
	fputc('\n', c->out);
}

static void print_finding(struct cli *c, const struct finding *f)
{
	struct strbuf b = {0};

	fprintf(c->out, "%s%-7s%s  %s\n", style_on(c, severity_style(f->severity)),
		severity_name(f->severity), style_off(c), f->id);
	fprintf(c->out, "%9s", "");
	put_wrapped(c, f->message, 9, 9);
	if (finding_put_evidence(f, &b) && b.n) {
		fprintf(c->out, "%9sevidence: ", "");
		put_wrapped(c, b.p, 19, 19);
	}
	if (b.failed)
		cli_warn(c, "out of memory: the evidence of %s is not shown", f->id);
	fprintf(c->out, "%9sadvice:   ", "");
	put_wrapped(c, f->advice, 19, 19);
	sb_free(&b);
}

static void print_heading(const struct cli *c, const struct trace *t)
{
	fprintf(c->out, "%s  %s  %u %s%s  %s\n\n", t->meta.kernel ? t->meta.kernel : "(no kernel)",
		t->meta.arch ? t->meta.arch : "(unknown target)", t->n_tracks,
		trace_has_pipes(t) ? "pipe" : "wave", plural(t->n_tracks),
		evidence_text(t, (char[EVIDENCE_TEXT]){0}));
}

static void print_verdict(const struct cli *c, const struct check *k)
{
	unsigned n[SEVERITY_COUNT] = {0};

	for (uint32_t i = 0; i < k->n_findings; i++)
		n[k->findings[i].severity]++;
	fprintf(c->out, "verdict: %s%s%s (%u error%s, %u warning%s, %u info)\n",
		style_on(c, verdict_style(k->verdict)), verdict_name(k->verdict), style_off(c),
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

static bool print_text(struct run *r)
{
	struct cli *c = r->c;
	size_t n_trace = 0;

	for (size_t i = 0; i < r->v.n; i++) {
		const struct checked *x = &r->v.v[i];

		if (!x->is_chosen)
			continue;
		if (r->v.n > 1)
			fprintf(c->out, "%s%s\n", n_trace ? "\n" : "", x->path);
		print_heading(c, r->traces.v[n_trace++]);
		for (uint32_t j = 0; j < x->check->n_findings; j++)
			print_finding(c, &x->check->findings[j]);
		print_verdict(c, x->check);
	}
	if (r->v.n > n_trace)
		fprintf(c->out, "\nother captures here:\n");
	for (size_t i = 0; i < r->v.n; i++) {
		const struct checked *x = &r->v.v[i];
		struct strbuf b = {0};

		if (x->is_chosen)
			continue;
		check_health(x->check, &b);
		fprintf(c->out, "  %s  %s%s%s\n", path_base(x->path),
			style_on(c, verdict_style(x->check->verdict)), b.p ? b.p : "",
			style_off(c));
		sb_free(&b);
	}
	if (cli_flag(c, "explain"))
		print_explain(c->out);
	return true;
}

static void run_deinit(struct run *r)
{
	for (size_t i = 0; i < r->v.n; i++) {
		check_free(r->v.v[i].check);
		mem_free(r->v.v[i].path);
	}
	for (size_t i = 0; i < r->traces.n; i++)
		trace_free(r->traces.v[i]);
	VEC_FREE(&r->v);
	VEC_FREE(&r->traces);
}

static int run_check(struct cli *c)
{
	struct run r = {.c = c};
	int status;
	bool ok = true;

	for (unsigned i = 0; ok && i < c->n_args; i++)
		ok = check_path(&r, c->args[i]);
	if (ok)
		ok = c->use_json ? print_json(&r) : c->use_csv ? print_csv(&r) : print_text(&r);
	status = ok ? exit_status(&r) : cli_fail(c);
	run_deinit(&r);
	return status;
}

const struct verb verb_check = {
	.name = "check",
	.args = "PATH...",
	.summary = "can this capture be trusted: findings with evidence and advice",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV | OPTIONS_CAPTURE,
	.min_args = 1,
	.max_args = 1000,
	.run = run_check,
};
