/* SPDX-License-Identifier: Apache-2.0 */
/* ask.c: contents of a store: entries by series, instructions that changed, findings. */
#include "analysis/name_filter.h"
#include "base/search.h"
#include "store/accept.h"
#include "store/row.h"
#include "store/schema.h"

/* --- entries --- */

static const char ENTRIES[] =
	"SELECT e.capture, at, kernel, arch, evidence, labels, revision, code, e.path, incore,"
	" duration, cycles, issue, stall, wait, idle, drain, per_track"
	" FROM entries e JOIN captures c ON c.capture = e.capture";
#define FIRST_FIGURE 10

/* NULL sorts before any text. Sorting here does not depend on the collation of the database. */
static int store_ask_by_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

int store_compare_series(const struct store_entry *a, const struct store_entry *b)
{
	int d = store_ask_by_text(a->kernel, b->kernel);

	d = d ? d : store_ask_by_text(a->arch, b->arch);
	d = d ? d : store_ask_by_text(a->evidence, b->evidence);
	return d ? d : store_ask_by_text(a->labels, b->labels);
}
ORDER(by_series_and_time, struct store_entry, THEN(store_compare_series) UP(at) UP(capture))

static bool read_entry(struct store_row *r, struct store_entry *out)
{
	*out = (struct store_entry){.capture = (uint64_t)store_int(r->s, r->q, 0),
		.at = store_int(r->s, r->q, 1),
		.kernel = store_text_at(r, 2),
		.arch = store_text_at(r, 3),
		.evidence = store_text_or(r, 4, "unknown"),
		.labels = store_text_or(r, 5, ""),
		.revision = store_text_at(r, 6),
		.code = store_text_or(r, 7, ""),
		.path = store_text_or(r, 8, ""),
		.incore = store_text_or(r, 9, "")};
	out->time = store_time_text(out->at, r->a);
	for (int i = 0; i < STORE_FIGURES; i++)
		out->figure[i] = store_int_or_none(r->s, r->q, FIRST_FIGURE + i);
	return r->ok && out->time;
}

static bool has_label(const char *labels, const char *want)
{
	struct str rest = str_of(labels), part;

	while (str_cut(&rest, ",", &part))
		if (str_is(part, want))
			return true;
	return str_is(rest, want);
}

static bool is_text(const char *want, const char *text)
{
	return !want || strcmp(want, text ? text : "") == 0;
}

struct store_ask_filter {
	const struct store_select *w;
	struct name_filter kernel;
	int64_t since;
};

static bool store_ask_is_wanted(const struct store_ask_filter *f, const struct store_entry *x,
	bool *does, struct incore_error *e)
{
	*does = is_text(f->w->arch, x->arch) && is_text(f->w->revision, x->revision) &&
		x->at >= f->since;
	for (size_t i = 0; *does && i < f->w->labels.n; i++)
		*does = has_label(x->labels, f->w->labels.v[i]);
	return !*does || !f->w->kernel ||
	       name_filter_match(&f->kernel, x->kernel ? x->kernel : "", does, e);
}

static bool filter_init(
	struct store_ask_filter *f, const struct store_select *w, struct incore_error *e)
{
	*f = (struct store_ask_filter){.w = w, .since = INT64_MIN};
	if (w->since && !store_time(w->since, &f->since))
		return err_set(e, INCORE_USAGE, "bad-time",
			"'%s' is not a time: expected 2026-11-18, 2026-11-18T01:02:03Z or @SECONDS",
			w->since);
	return !w->kernel || name_filter_init(&f->kernel, w->kernel, e);
}

bool store_list(struct store *s, const struct store_select *w, struct arena *a,
	struct store_entries *out, struct incore_error *e)
{
	struct store_ask_filter f;
	struct store_row r = {s, NULL, a, true};
	bool ok = filter_init(&f, w, e) && (r.q = store_ask(s, ENTRIES, e));

	while (ok && store_step(s, r.q, e)) {
		struct store_entry x;
		bool does;

		ok = read_entry(&r, &x) || err_nomem(e);
		ok = ok && store_ask_is_wanted(&f, &x, &does, e);
		if (ok && does)
			ok = VEC_PUSH(&out->v, x) || err_nomem(e);
	}
	ok = ok && !e->code;
	store_done(s, r.q);
	name_filter_deinit(&f.kernel);
	SORT(out->v.v, out->v.n, by_series_and_time);
	return ok && store_acceptances(s, a, &out->accepted, e);
}

size_t store_series(const struct store_entries *x, size_t at)
{
	const struct store_entry *a = &x->v.v[at];
	size_t n = 1;

	while (at + n < x->v.n && store_compare_series(a, &x->v.v[at + n]) == 0)
		n++;
	return n;
}

/* --- instructions that changed --- */

static const struct column mover_columns[] = {
	COLUMN(store_mover, row, UNIT_ROW,
		"row in the listing of the later capture; null: not in it", NULLABLE),
	COLUMN(store_mover, isa, UNIT_NONE, "text of the instruction",
		.flags = COLUMN_NULLABLE | COLUMN_WIDE),
	COLUMN(store_mover, line, UNIT_NONE, "source line of the instruction", NULLABLE),
	COLUMN(store_mover, cause, UNIT_NONE, "cause of the cycles"),
	COLUMN(store_mover, waits_for, UNIT_NONE,
		"the instruction that this instruction waited for most", .title = "waits for",
		.flags = COLUMN_NULLABLE | COLUMN_WIDE),
	COLUMN(store_mover, before, UNIT_CYCLES, "cycles in the earlier capture"),
	COLUMN(store_mover, after, UNIT_CYCLES, "cycles in the later capture"),
	COLUMN(store_mover, change, UNIT_CYCLES, "change of the cycles"),
};
const struct record store_mover_record = RECORD_OF(store_mover, RECORD_LINE, mover_columns);

static const char MOVERS[] =
	"WITH x AS (SELECT c.capture = $2 AS is_after, c.row AS row, c.cause AS cause, c.cycles AS"
	" cycles, k.isa AS isa, k.line AS line, CASE WHEN $3 = 1 THEN c.row END AS by_row,"
	" CASE WHEN $3 = 1 THEN NULL ELSE k.isa END AS by_isa"
	" FROM causes c LEFT JOIN code k ON k.capture = c.capture AND k.row = c.row"
	" WHERE c.capture IN ($1, $2)),"
	" y AS (SELECT max(CASE WHEN is_after THEN row END) AS row, max(isa) AS isa,"
	" max(line) AS line, cause, sum(CASE WHEN is_after THEN 0 ELSE cycles END) AS before,"
	" sum(CASE WHEN is_after THEN cycles ELSE 0 END) AS after"
	" FROM x GROUP BY by_row, by_isa, cause)"
	" SELECT row, isa, line, cause, (SELECT k.isa FROM producers p JOIN code k ON k.capture ="
	" p.capture AND k.row = p.producer_row WHERE p.capture = $2 AND p.row = y.row"
	" ORDER BY p.cycles DESC, p.producer_row LIMIT 1), before, after, after - before AS change"
	" FROM y WHERE (after - before) * $4 > 0"
	" ORDER BY (after - before) * $4 DESC, row NULLS FIRST, cause LIMIT $5";

static bool read_mover(struct store_row *r, struct store_mover *out)
{
	*out = (struct store_mover){.row = store_int_or_none(r->s, r->q, 0),
		.isa = store_text_at(r, 1),
		.line = store_text_at(r, 2),
		.cause = store_text_or(r, 3, "?"),
		.waits_for = store_text_at(r, 4),
		.before = store_int(r->s, r->q, 5),
		.after = store_int(r->s, r->q, 6),
		.change = store_int(r->s, r->q, 7)};
	return r->ok;
}

bool store_movers(struct store *s, const struct store_pair *p, struct arena *a, struct rows *out,
	struct incore_error *e)
{
	struct store_mover *v = arena_zalloc(a, (size_t)p->most + 1, sizeof(*v));
	struct store_row r = {s, NULL, a, true};
	bool ok = true;

	*out = (struct rows){.v = v};
	if (!v)
		return err_nomem(e);
	r.q = store_ask(s, MOVERS, e, V_INT(p->before->capture), V_INT(p->after->capture),
		V_INT(strcmp(p->before->code, p->after->code) == 0), V_INT(p->is_better ? -1 : 1),
		V_INT(p->most));
	if (!r.q)
		return false;
	while (ok && out->n < p->most && store_step(s, r.q, e))
		ok = read_mover(&r, &v[out->n++]) || err_nomem(e);
	store_done(s, r.q);
	return ok && !e->code;
}

/* --- findings --- */

static const struct column finding_columns[] = {
	COLUMN(store_finding, severity, UNIT_NONE, "how serious the finding is"),
	COLUMN(store_finding, id, UNIT_NONE, "name of the rule that fired"),
	COLUMN(store_finding, message, UNIT_NONE, "what was found", .flags = COLUMN_WIDE),
};
const struct record store_finding_record = RECORD_OF(store_finding, RECORD_LINE, finding_columns);

#define MOST_FINDINGS 100u

bool store_findings(struct store *s, uint64_t capture, struct arena *a, struct rows *out,
	struct incore_error *e)
{
	struct store_finding *v = arena_zalloc(a, MOST_FINDINGS, sizeof(*v));
	struct store_row r = {s, NULL, a, true};

	*out = (struct rows){.v = v};
	if (!v)
		return err_nomem(e);
	r.q = store_ask(s,
		"SELECT severity, id, message FROM findings WHERE capture = $1 ORDER BY rowid", e,
		V_INT(capture));
	if (!r.q)
		return false;
	while (r.ok && out->n < MOST_FINDINGS && store_step(s, r.q, e)) {
		v[out->n++] = (struct store_finding){
			store_text_at(&r, 0), store_text_at(&r, 1), store_text_at(&r, 2)};
		if (!r.ok)
			err_nomem(e);
	}
	store_done(s, r.q);
	return r.ok && !e->code;
}
