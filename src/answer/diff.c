/* SPDX-License-Identifier: Apache-2.0 */
/* diff.c: what changed between two captures per execution, beyond the noise of repeats? */
#include "answer/diff.h"
#include "answer/diff_runs.h"

#include <math.h>

#include "analysis/diff/stable.h"
#include "answer/captures.h"
#include "answer/pages.h"
#include "answer/siblings.h"

/* --- the sides and their repeats -------------------------------------------------------------- */

struct accounted {
	struct trace *trace;
	struct diff_side side;
};

struct diff_sides {
	struct answer *answer;
	const struct request *r;
	struct accounted a, b;
	/* A repeat of both A and B is here only once. */
	struct accounted repeats[2 * DIFF_MAX_REPEATS];
	uint32_t n_repeats;
	struct diff_side sides_a[DIFF_MAX_REPEATS],
		sides_b[DIFF_MAX_REPEATS]; /* copies of the sides of repeats */
	uint32_t n_a, n_b;
	struct diff_side of_state[2 + 2 * DIFF_MAX_REPEATS]; /* copies, too */
	uint32_t n_state;
	bool is_pair;
};

static void close_side(struct accounted *x)
{
	if (x->trace)
		diff_side_close(&x->side);
	trace_free(x->trace);
}

static void diff_sides_free(struct diff_sides *s)
{
	for (uint32_t i = 0; i < s->n_repeats; i++)
		close_side(&s->repeats[i]);
	close_side(&s->a);
	close_side(&s->b);
	mem_free(s);
}

/* Takes t. */
static bool account_side(
	struct diff_sides *s, struct trace *t, struct accounted *out, struct incore_error *e)
{
	struct walk_result walk = {0};
	struct walk_options o = request_walk(s->r, NULL);
	bool ok = diff_side_open(&out->side, t, &o, &walk, e);

	if (ok) {
		answer_walk_notes(s->answer, &walk);
		out->trace = t;
	} else {
		trace_free(t);
	}
	walk_result_deinit(&walk);
	return ok;
}

static bool open_side(
	struct diff_sides *s, const char *path, struct accounted *out, struct incore_error *e)
{
	struct trace *t;

	if (!answer_open(s->answer, s->r, path, IMPORT_SIDE_FILES, &t, e))
		return false;
	trace_share(t); /* the answer holds a reference, too */
	return account_side(s, t, out, e);
}

static bool is_same_origin(const struct trace *t, const struct trace *other)
{
	return t->meta.launch.dispatch == other->meta.launch.dispatch &&
	       t->meta.launch.agent == other->meta.launch.agent &&
	       str_is(str_of(t->meta.origin), other->meta.origin);
}

static struct accounted *find_repeat(struct diff_sides *s, const char *path)
{
	for (uint32_t i = 0; i < s->n_repeats; i++)
		if (siblings_is_same(
			    &s->r->captures->cache.fence, s->repeats[i].trace->meta.origin, path))
			return &s->repeats[i];
	return NULL;
}

/* Takes t. */
static bool add_repeat(struct diff_sides *s, struct trace *t, bool is_a, struct incore_error *e)
{
	struct accounted *x = find_repeat(s, t->meta.origin);

	if (x) {
		trace_free(t);
	} else {
		x = &s->repeats[s->n_repeats];
		if (!account_side(s, t, x, e))
			return false;
		s->n_repeats++;
	}
	if (is_a)
		s->sides_a[s->n_a++] = x->side;
	else
		s->sides_b[s->n_b++] = x->side;
	return true;
}

/* Keeps t as a repeat of A or B if it has that code; else drops it, and warns if it was given. */
static bool keep_repeat(struct diff_sides *s, struct trace *t, bool is_beside_b, bool is_given,
	struct incore_error *e)
{
	bool is_b = diff_same_code(t, s->b.trace);
	bool is_a = !(is_b && is_beside_b) && diff_same_code(t, s->a.trace);
	bool is_new = !is_same_origin(t, s->a.trace) && !is_same_origin(t, s->b.trace);

	if ((is_a || is_b) && is_new && (is_a ? s->n_a : s->n_b) < DIFF_MAX_REPEATS)
		return add_repeat(s, t, is_a, e);
	if (!is_a && !is_b && is_given)
		answer_warn(s->answer, "--noise %s: not the code of either capture, left out",
			t->meta.origin ? t->meta.origin : "?");
	trace_free(t);
	return true;
}

/* A given repeat may be the other capture of the pair: the user says that it is a repeat. */
static bool keep_given(struct diff_sides *s, struct trace *t, struct incore_error *e)
{
	bool is_b_itself = is_same_origin(t, s->b.trace) && diff_same_code(t, s->a.trace);

	s->is_pair |= is_b_itself && !is_same_origin(s->a.trace, s->b.trace);
	if (is_b_itself && s->n_a < DIFF_MAX_REPEATS)
		return add_repeat(s, t, true, e);
	return keep_repeat(s, t, false, true, e);
}

static bool read_repeat(
	struct diff_sides *s, const struct capture *k, struct trace **out, struct incore_error *e)
{
	struct import_options o = request_import(s->r, 0);

	return captures_read(s->r->captures, k, &o, out, e);
}

static bool add_given(struct diff_sides *s, const char *path, struct incore_error *e)
{
	struct captures *k = s->r->captures;
	struct capture_list list = {0};
	bool ok = captures_named(k, path, e) && captures_find(k, path, &list, e);

	for (uint32_t i = 0; ok && i < list.n; i++) {
		struct trace *t = NULL;

		captures_lock(k);
		capture_look(&k->cache, &list.arena, &list.v[i]);
		captures_unlock(k);
		if (!list.v[i].is_empty)
			ok = read_repeat(s, &list.v[i], &t, e) && keep_given(s, t, e);
	}
	capture_list_deinit(&list);
	return ok || err_wrap(e, "reading the repeat '%s'", path);
}

/* Adds siblings of one side's capture (same agent, same code); unreadable ones are left out. If
 * repeats are given, only checks whether A and B are siblings. */
static bool add_siblings(struct diff_sides *s, const struct accounted *of, struct incore_error *e)
{
	struct captures *k = s->r->captures;
	struct capture_list list = {0};
	struct siblings found = {0};
	struct incore_error ignored = {0};
	const struct diff_params *p = s->r->params;
	const char *path = of->trace->meta.origin;
	const struct trace *other = of == &s->a ? s->b.trace : s->a.trace;
	bool ok = true;

	if (!path || !captures_find(k, path, &list, &ignored)) {
		incore_error_clear(&ignored);
		return true;
	}
	if (list.n == 1) {
		captures_lock(k);
		ok = siblings_find(&found, &list.v[0], NULL, &k->cache, e);
		captures_unlock(k);
	}
	for (size_t i = 0; ok && i < found.captures.n; i++) {
		struct trace *t = NULL;

		if (found.facts.v[i].is_self)
			continue;
		if (siblings_is_same(
			    &k->cache.fence, found.captures.v[i]->path, other->meta.origin))
			s->is_pair = true;
		else if (p->noise.n)
			continue;
		else if (read_repeat(s, found.captures.v[i], &t, e))
			ok = keep_repeat(s, t, of == &s->b, false, e);
		else
			incore_error_clear(e);
	}
	siblings_deinit(&found);
	capture_list_deinit(&list);
	return ok;
}

static bool open_repeats(struct diff_sides *s, struct incore_error *e)
{
	const struct diff_params *p = s->r->params;

	for (size_t i = 0; i < p->noise.n; i++)
		if (!add_given(s, p->noise.v[i], e))
			return false;
	return add_siblings(s, &s->a, e) && add_siblings(s, &s->b, e);
}

/* Why A and B cannot be two captures of one state; NULL: they can. Rows are compared by their
 * number, and samples have a noise of their own. */
static const char *why_no_state(const struct diff_sides *s)
{
	if (is_same_origin(s->a.trace, s->b.trace))
		return "A and B are the same capture";
	if (!diff_same_code(s->a.trace, s->b.trace))
		return "the code of A and B differs";
	if (kind_row(s->a.trace)->is_by_launch || kind_row(s->b.trace)->is_by_launch)
		return "samples are compared by their sampling error";
	return NULL;
}

static bool gather_state(struct diff_sides *s, struct incore_error *e)
{
	const struct diff_params *p = s->r->params;
	bool is_told = p->stable_within_pct != NO_COUNT;
	const char *why = is_told || s->is_pair ? why_no_state(s) : NULL;

	if (is_told && why)
		return err_set(e, INCORE_BAD_INPUT, "not-comparable", "--stable-within: %s", why);
	if (why || !(is_told || s->is_pair))
		return true;
	s->of_state[s->n_state++] = s->a.side;
	s->of_state[s->n_state++] = s->b.side;
	for (uint32_t i = 0; i < s->n_repeats; i++)
		if (!is_same_origin(s->repeats[i].trace, s->b.trace) &&
			s->repeats[i].side.hot->all.totals.hit)
			s->of_state[s->n_state++] = s->repeats[i].side;
	return true;
}

/* Opens A and B of the request and their repeats: those given, or else the captures beside them.
 * The answer keeps them. */
static struct diff_sides *diff_sides_open(
	struct answer *a, const struct request *r, struct diff_options *o, struct incore_error *e)
{
	struct diff_sides *s = mem_zalloc(1, sizeof(*s));

	if (!s)
		return err_nomem_null(e);
	s->answer = a;
	s->r = r;
	if (!ANSWER_KEEP(a, s, diff_sides_free, e))
		return NULL;
	if (!open_side(s, r->paths[0], &s->a, e) || !open_side(s, r->paths[1], &s->b, e) ||
		!open_repeats(s, e) || !gather_state(s, e))
		return NULL;
	o->repeats_a = s->sides_a;
	o->n_repeats_a = s->n_a;
	o->repeats_b = s->sides_b;
	o->n_repeats_b = s->n_b;
	o->is_pair = s->is_pair;
	return s;
}

static const struct diff_side *diff_sides_a(const struct diff_sides *s)
{
	return &s->a.side;
}

static const struct diff_side *diff_sides_b(const struct diff_sides *s)
{
	return &s->b.side;
}

/* A, B and all repeats, each capture once, if A and B are captures of one state: they lie beside
 * each other, or the request says so. Otherwise *n is 0. */
static const struct diff_side *diff_sides_of_state(const struct diff_sides *s, uint32_t *n)
{
	*n = s->n_state;
	return s->of_state;
}

/* --- the answer ------------------------------------------------------------------------------- */

#define STABLE_WITHIN_PCT 2 /* default */

static const struct option_def options[] = {
	{OPT_BY, DIFF_BY_CHOICES, "instr", "what is compared row by row",
		OPTION_ALL(diff_params, by)},
	{OPT_ALIGN, "auto|row|text|line", "auto", "how rows of A and B are matched",
		OPTION_ALL(diff_params, align)},
	{OPT_MIN_MATCH, NULL, "50", "refuse if less of the latency is aligned",
		OPTION_ALL(diff_params, min_match_pct)},
	{OPT_NOISE, NULL, NULL, "repeats of A or B for the noise; default: captures beside them",
		OPTION_FIELD(diff_params, noise), .reach = REACH_AGENT | REACH_SQL},
	{OPT_NOISE_FACTOR, NULL, "1", "a change counts if it is larger than N times the noise",
		OPTION_ALL(diff_params, noise_factor)},
	{OPT_STABLE_WITHIN, NULL, NULL,
		"A and B are one state: stable if less than PCT apart (2: side by side)",
		OPTION_ALL(diff_params, stable_within_pct)},
	{OPT_GATE, NULL, NULL, "exit with 1 unless the condition holds: 'stall_per_hit<+5%'",
		OPTION_FIELD(diff_params, gates), .reach = REACH_AGENT | REACH_SQL},
	GATE_REPORT_OPTIONS(diff_params, files),
	OPTION_END,
};

/* --- columns -------------------------------------------------------------------------------- */

#define VERDICTS "no-claim|within-noise|beyond-noise|not-comparable"

static const struct column evidence_columns[] = {
	COLUMN(diff_evidence, a, UNIT_NONE, "what the figures of A rest on",
		.words = EVIDENCE_WORDS),
	COLUMN(diff_evidence, b, UNIT_NONE, "what the figures of B rest on",
		.words = EVIDENCE_WORDS),
};
const struct record diff_evidence_record = RECORD_OF(diff_evidence, RECORD_BLOCK, evidence_columns);

static const struct column alignment_columns[] = {
	COLUMN(diff_alignment, kind, UNIT_NONE, "how rows of A and B were matched",
		.words = "row|text|line"),
	COLUMN(diff_alignment, rows_a, UNIT_COUNT, "instructions of A"),
	COLUMN(diff_alignment, rows_b, UNIT_COUNT, "instructions of B"),
	COLUMN(diff_alignment, matched, UNIT_COUNT,
		"instructions that are in both; by line: source lines in both"),
	COLUMN(diff_alignment, latency_share, UNIT_SHARE,
		"share of the latency of A and B that is aligned", .digits = 6),
	COLUMN(diff_alignment, matched_latency_a, UNIT_CYCLES, "aligned latency of A"),
	COLUMN(diff_alignment, matched_latency_b, UNIT_CYCLES, "aligned latency of B"),
};
static const struct record alignment_record =
	RECORD_OF(diff_alignment, RECORD_BLOCK, alignment_columns);

static const struct column hits_columns[] = {
	COLUMN(diff_hits, a, UNIT_COUNT, "instructions executed in A; 0: not counted"),
	COLUMN(diff_hits, b, UNIT_COUNT, "instructions executed in B; 0: not counted"),
	COLUMN(diff_hits, ratio, UNIT_NONE,
		"B / A of executions; of launches if executions are not counted", .digits = 6),
	COLUMN(diff_hits, is_uniform, UNIT_NONE,
		"the ratio is equal on every row: both did the same work"),
};
static const struct record hits_record = RECORD_OF(diff_hits, RECORD_BLOCK, hits_columns);

static const struct column clocks_columns[] = {
	COLUMN(diff_clocks, a_mhz, UNIT_MHZ, "clock of A", .digits = 3),
	COLUMN(diff_clocks, b_mhz, UNIT_MHZ, "clock of B", .digits = 3),
	COLUMN(diff_clocks, is_alike, UNIT_NONE,
		"the clocks are within 3 % of each other, or one is unknown"),
};
static const struct record clocks_record = RECORD_OF(diff_clocks, RECORD_BLOCK, clocks_columns);

static const struct column noise_columns[] = {
	COLUMN(diff_noise, repeats_a, UNIT_COUNT, "further captures of the same code as A"),
	COLUMN(diff_noise, repeats_b, UNIT_COUNT, "further captures of the same code as B"),
	COLUMN(diff_noise, is_pair, UNIT_NONE, "A and B are repeats of each other"),
	COLUMN(diff_noise, factor, UNIT_NONE,
		"a change counts if it is larger than the noise times this factor", .digits = 3),
	COLUMN(diff_noise, statement, UNIT_NONE, "what may be claimed about the noise"),
};
static const struct record noise_record = RECORD_OF(diff_noise, RECORD_BLOCK, noise_columns);

static const struct column moved_columns[] = {
	COLUMN(diff_moved_row, row, UNIT_ROW, "number of the instruction in both listings"),
	COLUMN(diff_moved_row, key, UNIT_NONE, "text of the instruction", .title = "what",
		.flags = COLUMN_WIDE),
	COLUMN(diff_moved_row, source, UNIT_NONE, "source file and line of the instruction",
		.flags = COLUMN_NULLABLE | COLUMN_WIDE),
	COLUMN(diff_moved_row, a, UNIT_CYCLES, "cycles of the row in one execution in A",
		.title = "cyc/exec A", .digits = 6, .table_digits = 3),
	COLUMN(diff_moved_row, b, UNIT_CYCLES, "cycles of the row in one execution in B",
		.title = "cyc/exec B", .digits = 6, .table_digits = 3),
	COLUMN(diff_moved_row, least, UNIT_CYCLES, "smallest cycles of the row among the captures",
		.title = "least", .digits = 6, .table_digits = 3),
	COLUMN(diff_moved_row, most, UNIT_CYCLES, "largest cycles of the row among the captures",
		.title = "most", .digits = 6, .table_digits = 3),
	COLUMN(diff_moved_row, spread_pct, UNIT_PERCENT,
		"largest minus smallest, as a share of the cycles of one execution",
		.title = "moves %", .digits = 4, .table_digits = 2),
	COLUMN(diff_moved_row, is_beyond, UNIT_NONE,
		"the row varies by more than the limit for rows"),
};
const struct record diff_moved_record = RECORD_OF(diff_moved_row, RECORD_BLOCK, moved_columns);

static const struct column stability_columns[] = {
	COLUMN(diff_stability, verdict, UNIT_NONE, "whether captures of the same state agree",
		.words = "stable|not-stable|not-judged"),
	COLUMN(diff_stability, statement, UNIT_NONE,
		"basis of the verdict, or the reason why nothing was judged"),
	COLUMN(diff_stability, captures, UNIT_COUNT,
		"captures of the same state: A, B and repeats"),
	COLUMN(diff_stability, is_pair, UNIT_NONE,
		"only two captures: there is a difference but no spread"),
	COLUMN(diff_stability, least, UNIT_CYCLES,
		"smallest cycles of one execution among the captures", NULLABLE, .digits = 6),
	COLUMN(diff_stability, most, UNIT_CYCLES,
		"largest cycles of one execution among the captures", NULLABLE, .digits = 6),
	COLUMN(diff_stability, spread_pct, UNIT_PERCENT,
		"largest minus smallest cycles of one execution, as a share of the smallest",
		NULLABLE, .digits = 4),
	COLUMN(diff_stability, limit_pct, UNIT_PERCENT,
		"the captures are stable if the spread is below this limit", .digits = 4),
	COLUMN(diff_stability, row_most_pct, UNIT_PERCENT, "spread of the row that varies most",
		NULLABLE, .digits = 4),
	COLUMN(diff_stability, row_limit_pct, UNIT_PERCENT,
		"the captures are stable if no row varies by more than this limit", .digits = 4),
	COLUMN(diff_stability, rows_beyond, UNIT_COUNT, "rows that vary by more than the limit"),
	COLUMN(diff_stability, rows_total, UNIT_COUNT, "number of rows; --top shows fewer"),
	LIST(diff_stability, rows, &diff_moved_record,
		"rows where unstable captures differ: those beyond the limit, or else all"),
};
static const struct record stability_record =
	RECORD_OF(diff_stability, RECORD_BLOCK, stability_columns);

static const struct column value_columns[] = {
	COLUMN(diff_value_row, name, UNIT_NONE, "name of the value that is compared"),
	COLUMN(diff_value_row, a, UNIT_NONE, "value in A; null: not in the capture", .digits = 6),
	COLUMN(diff_value_row, b, UNIT_NONE, "value in B; null: not in the capture", .digits = 6),
	COLUMN(diff_value_row, change, UNIT_NONE, "B - A", .digits = 6),
	COLUMN(diff_value_row, change_pct, UNIT_PERCENT, "change as a share of the value in A",
		.digits = 4),
	COLUMN(diff_value_row, noise, UNIT_NONE, "spread of the value among repeats", .digits = 6),
	COLUMN(diff_value_row, noise_pct, UNIT_PERCENT,
		"spread of the value among repeats, as a share of the smallest", .digits = 4),
	COLUMN(diff_value_row, verdict, UNIT_NONE, "whether the change is larger than the noise",
		.words = VERDICTS),
};
static const struct record value_record = RECORD_OF(diff_value_row, RECORD_BLOCK, value_columns);

static const struct column part_columns[] = {
	COLUMN(diff_part_row, key, UNIT_NONE, "the instruction, line, opcode, class or cause",
		.title = "what", .csv = "key", .flags = COLUMN_WIDE),
	COLUMN(diff_part_row, key_b, UNIT_NONE,
		"the line of B that this line of A has become, where its name differs; null: it does not",
		.title = "line in B", .flags = COLUMN_NULLABLE | COLUMN_WIDE),
	COLUMN(diff_part_row, row_a, UNIT_ROW, "row of the part in A", .title = "row A",
		.csv = "row_a", NULLABLE),
	COLUMN(diff_part_row, row_b, UNIT_ROW, "row of the part in B", .title = "row B",
		.csv = "row_b", NULLABLE),
	COLUMN(diff_part_row, source, UNIT_NONE, "source file and line of the row",
		.flags = COLUMN_NULLABLE | COLUMN_WIDE),
	COLUMN(diff_part_row, hit_a, UNIT_COUNT, "executions in A; 0: not counted",
		.title = "hit A", .csv = "hit_a"),
	COLUMN(diff_part_row, hit_b, UNIT_COUNT, "executions in B; 0: not counted",
		.title = "hit B", .csv = "hit_b"),
	COLUMN(diff_part_row, cycles_a, UNIT_CYCLES, "latency in A, or the cycles of a cause"),
	COLUMN(diff_part_row, cycles_b, UNIT_CYCLES, "latency in B, or the cycles of a cause"),
	COLUMN(diff_part_row, per_hit_a, UNIT_CYCLES, "cycles per execution in A",
		.title = "cyc/hit A", .csv = "cycles_per_hit_a", .digits = 6, .table_digits = 3),
	COLUMN(diff_part_row, per_hit_b, UNIT_CYCLES, "cycles per execution in B",
		.title = "cyc/hit B", .csv = "cycles_per_hit_b", .digits = 6, .table_digits = 3),
	COLUMN(diff_part_row, stall_per_hit_a, UNIT_CYCLES, "stall cycles per execution in A",
		.digits = 6),
	COLUMN(diff_part_row, stall_per_hit_b, UNIT_CYCLES, "stall cycles per execution in B",
		.digits = 6),
	COLUMN(diff_part_row, per_launch_a, UNIT_CYCLES,
		"cycles per launch in A, if executions are not counted", .title = "cyc/launch A",
		.csv = "cycles_per_launch_a", .digits = 6, .table_digits = 1),
	COLUMN(diff_part_row, per_launch_b, UNIT_CYCLES,
		"cycles per launch in B, if executions are not counted", .title = "cyc/launch B",
		.csv = "cycles_per_launch_b", .digits = 6, .table_digits = 1),
	COLUMN(diff_part_row, change, UNIT_CYCLES, "change of the cycles per execution or launch",
		.csv = "change_cycles_per_hit", .digits = 6, .table_digits = 3),
	COLUMN(diff_part_row, contribution, UNIT_CYCLES,
		"contribution of the row to the change of one execution or launch of A",
		.title = "contrib", .csv = "contribution_cycles_per_hit", .digits = 6,
		.table_digits = 4),
	COLUMN(diff_part_row, noise, UNIT_CYCLES,
		"spread of the cycles per execution or launch among repeats",
		.csv = "noise_cycles_per_hit", .digits = 6, .table_digits = 3),
	COLUMN(diff_part_row, verdict, UNIT_NONE, "whether the change is larger than the noise",
		.words = VERDICTS),
};
const struct record diff_part_record = RECORD_OF(diff_part_row, RECORD_BLOCK, part_columns);

static const struct column gate_columns[] = {
	COLUMN(gate_row, gate, UNIT_NONE, "the condition as it was given"),
	COLUMN(gate_row, metric, UNIT_NONE, "the value that the condition is about"),
	COLUMN(gate_row, kind, UNIT_NONE, "which property of the value is checked",
		.words = "value|change|change_pct"),
	COLUMN(gate_row, value, UNIT_NONE, "measured value", .digits = 6),
	COLUMN(gate_row, limit, UNIT_NONE, "limit that the condition sets", .digits = 6),
	COLUMN(gate_row, noise, UNIT_NONE, "spread of the value among repeats", .digits = 6),
	COLUMN(gate_row, is_passed, UNIT_NONE, "the condition holds"),
	COLUMN(gate_row, is_within_noise, UNIT_NONE,
		"the value is beyond the limit but within the noise"),
	COLUMN(gate_row, message, UNIT_NONE, "result of the condition in words"),
};
const struct record diff_gate_record = RECORD_OF(gate_row, RECORD_BLOCK, gate_columns);

static const struct column diff_columns[] = {
	RECORD(diff_answer, evidence, &diff_evidence_record, "what the figures rest on"),
	COLUMN(diff_answer, by, UNIT_NONE, "what each part stands for", .words = DIFF_BY_CHOICES),
	COLUMN(diff_answer, per, UNIT_NONE, "what the cycles are divided by",
		.words = "execution|launch"),
	COLUMN(diff_answer, verdict, UNIT_NONE, "the stronger of the verdicts on latency and stall",
		.words = VERDICTS),
	RECORD(diff_answer, alignment, &alignment_record, "how much of A and B was matched"),
	RECORD(diff_answer, hits, &hits_record, "how often A and B executed instructions"),
	RECORD(diff_answer, clocks, &clocks_record, "whether the times of A and B may be compared"),
	RECORD(diff_answer, noise, &noise_record, "how the noise was estimated"),
	RECORD(diff_answer, stability, &stability_record,
		"whether captures of the same state agree"),
	LIST(diff_answer, values, &value_record, "figures of the captures as a whole"),
	COLUMN(diff_answer, parts_total, UNIT_COUNT, "number of parts; --top shows fewer"),
	LIST(diff_answer, parts, &diff_part_record,
		"parts with changes beyond the noise first, then by contribution"),
	LIST(diff_answer, gates, &diff_gate_record, "results of the conditions of --gate"),
};
static const struct record diff_record = RECORD_OF(diff_answer, RECORD_BLOCK, diff_columns);

/* --- rows ----------------------------------------------------------------------------------- */

struct diff_job {
	const struct request *r;
	struct answer *a;
	struct diff_answer *out;
	struct diff_options options;
	struct diff diff; /* its arena holds the keys */
};

static void diff_job_free(struct diff_job *j)
{
	diff_deinit(&j->diff);
	mem_free(j);
}

static double diff_known(bool is_known, double v)
{
	return is_known ? v : NAN;
}

static bool make_values(struct diff_job *j, struct incore_error *e)
{
	const struct diff *d = &j->diff;
	struct diff_value_row *v =
		ANSWER_ROWS(j->a, &j->out->values, d->n_values, diff_value_row, e);

	for (uint32_t i = 0; v && i < d->n_values; i++) {
		const struct diff_value *x = &d->values[i];

		v[i] = (struct diff_value_row){.name = x->name,
			.a = x->a,
			.b = x->b,
			.change = diff_known(x->is_known, x->change),
			.change_pct = diff_known(x->is_known, x->change_pct),
			.noise = diff_known(d->has_noise, x->noise),
			.noise_pct = diff_known(d->has_noise, x->noise_pct),
			.verdict = diff_verdict_name(x->verdict),
			.is_share = x->is_share,
			.is_count = x->is_count,
			.is_known = x->is_known};
	}
	return v != NULL;
}

static int64_t row_number(const struct trace *t, code_idx i)
{
	return i < t->n_code ? t->code[i].number : NO_VALUE;
}

static const char *source_of(const struct diff *d, const struct diff_part *p)
{
	if (p->code_b < d->b->trace->n_code)
		return d->b->trace->code[p->code_b].source;
	return p->code_a < d->a->trace->n_code ? d->a->trace->code[p->code_a].source : NULL;
}

static bool make_parts(struct diff_job *j, struct incore_error *e)
{
	const struct diff *d = &j->diff;
	uint64_t top = request_top(j->r, 20, 20);
	size_t n = d->n_parts < top ? d->n_parts : (size_t)top;
	struct diff_part_row *v = ANSWER_ROWS(j->a, &j->out->parts, n, diff_part_row, e);

	for (size_t i = 0; v && i < n; i++) {
		const struct diff_part *p = &d->parts[i];
		bool is_hit = d->per == DIFF_PER_HIT;

		v[i] = (struct diff_part_row){.key = p->key,
			.key_b = p->key_b,
			.source = source_of(d, p),
			.verdict = diff_verdict_name(p->verdict),
			.row_a = row_number(d->a->trace, p->code_a),
			.row_b = row_number(d->b->trace, p->code_b),
			.hit_a = is_hit ? p->work_a : 0,
			.hit_b = is_hit ? p->work_b : 0,
			.cycles_a = p->cycles_a,
			.cycles_b = p->cycles_b,
			.per_hit_a = diff_known(is_hit, p->per_work_a),
			.per_hit_b = diff_known(is_hit, p->per_work_b),
			.stall_per_hit_a = diff_known(is_hit, p->stall_per_work_a),
			.stall_per_hit_b = diff_known(is_hit, p->stall_per_work_b),
			.per_launch_a = diff_known(!is_hit, p->per_work_a),
			.per_launch_b = diff_known(!is_hit, p->per_work_b),
			.change = p->change,
			.contribution = p->contribution,
			.noise = diff_known(d->has_noise, p->noise),
			.is_beyond = p->verdict == DIFF_BEYOND};
	}
	j->out->parts_total = d->n_parts;
	return v != NULL;
}

static bool make_moved(struct diff_job *j, const struct trace *t, const struct stability *s,
	struct incore_error *e)
{
	struct diff_stability *out = &j->out->stability;
	uint64_t top = request_top(j->r, 20, 20);
	size_t n = s->n_rows < top ? s->n_rows : (size_t)top;
	struct diff_moved_row *v = ANSWER_ROWS(j->a, &out->rows, n, diff_moved_row, e);

	for (size_t i = 0; v && i < n; i++) {
		const struct stable_row *r = &s->rows[i];

		v[i] = (struct diff_moved_row){.row = row_number(t, r->code),
			.key = t->code[r->code].text,
			.source = t->code[r->code].source,
			.a = r->a,
			.b = r->b,
			.least = r->least,
			.most = r->most,
			.spread_pct = r->spread_pct,
			.is_beyond = i < s->n_beyond};
	}
	out->rows_total = s->n_rows;
	return v != NULL;
}

static bool make_stability(
	struct diff_job *j, const struct diff_sides *sides, struct incore_error *e)
{
	const struct diff_params *p = j->r->params;
	struct diff_stability *out = &j->out->stability;
	uint64_t pct = p->stable_within_pct == NO_COUNT ? STABLE_WITHIN_PCT : p->stable_within_pct;
	uint32_t n;
	const struct diff_side *of_state = diff_sides_of_state(sides, &n);
	struct stability s = {.least = NAN, .most = NAN, .spread_pct = NAN, .row_most_pct = NAN};

	*out = (struct diff_stability){.captures = n,
		.is_pair = n == 2,
		.is_judged = n,
		.limit_pct = (double)pct,
		.row_limit_pct = (double)pct / 2};
	if (out->is_judged && !stability_judge(&s, of_state, n, out->limit_pct, out->row_limit_pct,
				      &j->diff.arena, e))
		return false;
	out->verdict = !out->is_judged ? "not-judged" : s.is_stable ? "stable" : "not-stable";
	out->statement = !n	  ? "A and B are not known to be captures of one state"
			 : n == 2 ? "one pair shows no spread"
				  : "of several captures those furthest apart count";
	out->is_stable = s.is_stable;
	out->least = s.least;
	out->most = s.most;
	out->spread_pct = s.spread_pct;
	out->row_most_pct = s.row_most_pct;
	out->rows_beyond = s.n_beyond;
	return make_moved(j, j->diff.a->trace, &s, e);
}

static bool make_gate(
	struct diff_job *j, const char *text, struct gate_row *out, struct incore_error *e)
{
	static const char *const kinds[] = {"value", "change", "change_pct"};
	struct strbuf message = {0};
	struct gate_result g;
	struct gate gate;

	if (!gate_parse(&gate, text, e) || !gate_check(&gate, &j->diff, &g, e))
		return false;
	gate_put(&g, &j->diff, &message);
	*out = (struct gate_row){.gate = text,
		.metric = g.value->name,
		.kind = kinds[gate.kind],
		.message =
			message.failed ? NULL : arena_strndup(&j->a->arena, message.p, message.n),
		.value = g.got,
		.limit = g.limit,
		.noise = diff_known(j->diff.has_noise, g.noise),
		.is_passed = g.is_passed,
		.is_within_noise = g.is_saved_by_noise};
	sb_free(&message);
	out->figures = out->message ? strchr(out->message, ':') + 2 : NULL;
	j->a->is_no |= !g.is_passed;
	return out->message || err_nomem(e);
}

static bool make_gates(struct diff_job *j, struct incore_error *e)
{
	const struct diff_params *p = j->r->params;
	struct gate_row *v = ANSWER_ROWS(j->a, &j->out->gates, p->gates.n, gate_row, e);

	for (size_t i = 0; v && i < p->gates.n; i++)
		if (!make_gate(j, p->gates.v[i], &v[i], e))
			return false;
	return v != NULL;
}

static void make_heads(struct diff_job *j)
{
	static const char *const by[] = {"instr", "line", "opcode", "class", "cause"};
	const struct diff *d = &j->diff;
	const struct diff_align *x = &d->align;
	struct diff_answer *out = j->out;

	out->evidence = (struct diff_evidence){evidence_name(d->a->trace->meta.evidence),
		evidence_name(d->b->trace->meta.evidence)};
	out->by = by[d->by];
	out->per = d->per == DIFF_PER_LAUNCH ? "launch" : "execution";
	out->verdict = diff_verdict_name(d->verdict);
	out->alignment = (struct diff_alignment){diff_align_name(x->kind), x->rows_a, x->rows_b,
		x->matched, diff_matched_share(x), x->matched_a, x->matched_b};
	out->hits = (struct diff_hits){d->a->hot->all.totals.hit, d->b->hot->all.totals.hit,
		d->work_ratio, d->is_same_work};
	out->clocks = (struct diff_clocks){diff_known(d->clock_a_mhz > 0, d->clock_a_mhz),
		diff_known(d->clock_b_mhz > 0, d->clock_b_mhz), d->is_clock_alike};
	out->noise = (struct diff_noise){d->options->n_repeats_a, d->options->n_repeats_b,
		d->options->is_pair, d->options->noise_factor,
		d->is_sampled
			? "changes are compared with twice the sampling error, or with the spread of repeats"
		: d->has_noise ? "changes are compared with the spread of repeats"
			       : "no repeat: no significance claim"};
	out->has_noise = d->has_noise;
	out->is_sampled = d->is_sampled;
	out->is_per_launch = d->per == DIFF_PER_LAUNCH;
	out->is_by_instr = d->by == DIFF_BY_INSTR;
	out->is_aligned_by_line = x->kind == ALIGN_LINE;
}

/* --- its gates as files for CI ---------------------------------------------------------------- */

#define CAUSES_MAX 5u

static const char gate_help[] =
	"incore diff compares two captures of a kernel. Values per hit are cycles of one execution of "
	"an instruction, of samples without counts those of one launch, shares are of all wave "
	"lifetimes: other numbers of waves or trips do not show as change. latency, stall and idle are those of the tool that took the capture; issue, wait, "
	"accounting_stall, accounting_idle and drain are the buckets of the conserved accounting. A "
	"change within the noise of repeats passes. To look closer, run incore diff on both captures: "
	"it lists what changed, instruction by instruction. A change of code that causes this is to be "
	"mended, or the gate moved: see incore-diff(1).";

static const char *figure_of(
	const struct diff_answer *a, const struct diff_part_row *p, struct arena *arena)
{
	bool is_claim = strcmp(p->verdict, "no-claim") != 0;

	return arena_printf(arena, "%+.4f cycles per %s%s%s", p->contribution, a->per,
		is_claim ? ", " : "", is_claim ? p->verdict : "");
}

/* Does a come before b in order of cost: more cycles, or equal and further up? */
static bool is_costlier(const struct diff_part_row *a, const struct diff_part_row *b)
{
	return a->cycles_b != b->cycles_b ? a->cycles_b > b->cycles_b : a < b;
}

/* For gates on a value, where nothing got worse: the parts with most cycles are the causes. */
static size_t put_costliest(
	const struct diff_answer *a, struct arena *arena, struct gate_cause *out)
{
	const struct diff_part_row *v = a->parts.v, *last = NULL;
	size_t n = 0;

	for (; n < CAUSES_MAX; n++) {
		const struct diff_part_row *most = NULL;

		for (size_t i = 0; i < a->parts.n; i++)
			if ((!last || is_costlier(last, &v[i])) &&
				(!most || is_costlier(&v[i], most)))
				most = &v[i];
		if (!most || !most->cycles_b)
			break;
		out[n] = (struct gate_cause){most->key,
			arena_printf(arena, "%llu cycles", (unsigned long long)most->cycles_b),
			most->source};
		last = most;
	}
	return n;
}

/* Parts that changed in the direction that the gate forbids, in the order of the answer: largest
 * first. */
static bool put_gate_causes(const struct diff_answer *a, const struct gate_row *g,
	struct arena *arena, struct rows *out)
{
	struct gate_cause *v = arena_zalloc(arena, CAUSES_MAX, sizeof(*v));
	bool is_by_line = strcmp(a->by, "line") == 0, is_most = strchr(g->gate, '<') != NULL;
	const struct diff_part_row *p = a->parts.v;
	size_t n = 0;

	if (!v)
		return false;
	for (size_t i = 0; i < a->parts.n && n < CAUSES_MAX; i++)
		if (is_most ? p[i].contribution > 0 : p[i].contribution < 0)
			v[n++] = (struct gate_cause){
				p[i].key, figure_of(a, &p[i], arena), p[i].source};
	if (!n)
		n = put_costliest(a, arena, v);
	for (size_t i = 0; i < n; i++) {
		if (is_by_line)
			v[i].source = v[i].what;
		if (!v[i].figure)
			return false;
	}
	*out = (struct rows){v, n};
	return true;
}

static const char *evidence_pair(const struct diff_answer *a, struct arena *arena)
{
	const struct diff_evidence *x = &a->evidence;

	return strcmp(x->a, x->b) == 0 ? x->b : arena_printf(arena, "%s against %s", x->b, x->a);
}

static bool fill_outcomes(const struct answer *answer, struct arena *arena, struct gate_outcome *v)
{
	const struct diff_answer *a = answer->data;
	const struct trace *b = answer->traces.v[1];
	const char *evidence = evidence_pair(a, arena);

	for (size_t i = 0; i < a->gates.n; i++) {
		const struct gate_row *g = (const struct gate_row *)a->gates.v + i;

		v[i] = (struct gate_outcome){.state = g->is_passed ? GATE_HELD : GATE_FAILED,
			.metric = g->metric,
			.name = g->gate,
			.kernel = b->meta.kernel,
			.message = g->figures,
			.evidence = evidence,
			.input = b->meta.origin,
			.row = g};
		if (!g->is_passed && !put_gate_causes(a, g, arena, &v[i].causes))
			return false;
	}
	return evidence != NULL;
}

static bool write_gates(const struct gate_files *f, struct answer *a, struct incore_error *e)
{
	const struct diff_answer *d = a->data;
	struct gate_report r = {.verb = "diff", .help = gate_help, .record = &diff_gate_record};
	struct gate_outcome *v;

	if (!gate_is_asked(f))
		return true;
	v = answer_alloc(a, d->gates.n, sizeof(*v), e);
	r.v = v;
	r.n = d->gates.n;
	r.warnings = a->warnings.v;
	r.n_warnings = a->warnings.n;
	return v && (fill_outcomes(a, &a->arena, v) || err_nomem(e)) && gate_write(f, &r, e);
}

/* --- the question --------------------------------------------------------------------------- */

/* Reports invalid conditions before anything is read. */
static bool take_params(struct diff_job *j, struct incore_error *e)
{
	const struct diff_params *p = j->r->params;
	struct gate gate;

	if (p->min_match_pct > 100)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--min-match: expected a percentage up to 100, found %llu",
			(unsigned long long)p->min_match_pct);
	if (p->stable_within_pct != NO_COUNT &&
		(!p->stable_within_pct || p->stable_within_pct > 100))
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--stable-within: expected a percentage from 1 to 100, found %llu",
			(unsigned long long)p->stable_within_pct);
	for (size_t i = 0; i < p->gates.n; i++)
		if (!gate_parse(&gate, p->gates.v[i], e))
			return false;
	if (!gate_may_write(&p->files, p->gates.n, e))
		return false;
	j->options = (struct diff_options){.by = (enum diff_by)p->by,
		.has_align = p->align > 0,
		.align = p->align ? (enum diff_align_kind)(p->align - 1) : ALIGN_ROW,
		.min_match = (double)p->min_match_pct / 100,
		.noise_factor = (double)p->noise_factor};
	return true;
}

/* Options for two captures, which runs of many kernels do not take. */
static bool check_runs(const struct request *r, struct incore_error *e)
{
	const struct diff_params *p = r->params;

	if (request_given(r, &p->by) || request_given(r, &p->align) ||
		request_given(r, &p->min_match_pct) || request_given(r, &p->noise_factor) ||
		p->noise.n || p->gates.n || p->stable_within_pct != NO_COUNT)
		return err_set(e, INCORE_USAGE, "bad-option",
			"these are runs of many kernels, compared kernel by kernel: of the options of diff none but --top applies; name two captures to use others");
	return true;
}

static bool ask_diff(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct diff_job *j;
	struct diff_sides *s;

	if (diff_runs_asked(r))
		return check_runs(r, e) && diff_runs_ask(r, a, e);
	j = mem_zalloc(1, sizeof(*j));
	if (!j)
		return err_nomem(e);
	j->r = r;
	j->a = a;
	if (!take_params(j, e)) {
		mem_free(j);
		return false;
	}
	s = diff_sides_open(a, r, &j->options, e);
	if (!s) {
		mem_free(j);
		return false;
	}
	/* kept after the sides, so that it is freed before them */
	if (!ANSWER_KEEP(a, j, diff_job_free, e))
		return false;
	j->out = ANSWER_NEW(a, diff_answer, e);
	if (!j->out || !diff_run(&j->diff, diff_sides_a(s), diff_sides_b(s), &j->options, e))
		return false;
	a->data = j->out;
	make_heads(j);
	return make_stability(j, s, e) && make_values(j, e) && make_parts(j, e) &&
	       make_gates(j, e) &&
	       write_gates(&((const struct diff_params *)r->params)->files, a, e);
}

const struct question question_diff = {
	.reach = REACH_ALL,
	.name = "diff",
	.args = "A B",
	.summary = "two captures, normalised per execution, with a noise floor; gates for CI",
	.groups = OPTIONS_CSV | OPTIONS_TOP | OPTIONS_CAPTURE,
	.options = options,
	.params_size = sizeof(struct diff_params),
	.min_paths = 2,
	.max_paths = 2,
	.records = RECORDS(&diff_record, &diff_runs_record),
	.main_lists = "parts|kernels",
	.ask = ask_diff,
	.page = diff_page,
};
