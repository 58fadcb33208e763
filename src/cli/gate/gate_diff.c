/* SPDX-License-Identifier: Apache-2.0 */
/* gate_diff.c: the gates of `incore diff` as a table of results. */
#include "answer/diff.h"
#include "base/arena.h"
#include "cli/gate/gate.h"

#define CAUSES_MAX 5u

static const char help[] =
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
static bool put_causes(const struct diff_answer *a, const struct gate_row *g, struct arena *arena,
	struct rows *out)
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

static bool fill(const struct answer *answer, struct arena *arena, struct gate_outcome *v)
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
		if (!g->is_passed && !put_causes(a, g, arena, &v[i].causes))
			return false;
	}
	return evidence != NULL;
}

bool gate_may_write_diff(struct cli *c)
{
	return gate_may_write(c, cli_many(c, "gate"));
}

bool gate_write_diff(struct cli *c, const struct answer *answer)
{
	const struct diff_answer *a = answer->data;
	struct gate_report r = {.verb = "diff", .help = help, .record = &diff_gate_record};
	struct gate_outcome *v;
	struct arena arena;
	bool ok;

	if (!gate_is_asked(c))
		return true;
	arena_init(&arena);
	v = arena_zalloc(&arena, a->gates.n + 1, sizeof(*v));
	r.v = v;
	r.n = a->gates.n;
	ok = v && fill(answer, &arena, v) ? gate_write(c, &r) : err_nomem(&c->error);
	arena_deinit(&arena);
	return ok;
}
