/* SPDX-License-Identifier: Apache-2.0 */
/* findings.c: findings about a kernel, one per pair of places, and the description of an op. */
#include "model/engine/engine_internal.h"
#include "trace/notes.h"

static bool is_same_place(
	const struct opstream_set *set, const struct finding_op *a, const struct finding_op *b)
{
	const struct opstream *s, *t;
	const struct op_site *p, *q;

	if (a->op == NO_OP || b->op == NO_OP)
		return a->op == b->op;
	s = &set->v.v[a->stream];
	t = &set->v.v[b->stream];
	/* blocks and lanes run one source: the same line on the same kind of core is one place */
	if (s->core != t->core || a->pipe != b->pipe)
		return false;
	p = &s->sites.v[s->ops.v[a->op].site];
	q = &t->sites.v[t->ops.v[b->op].site];
	if (p->line == 0 && q->line == 0)
		return s == t && a->op == b->op;
	return p->line == q->line &&
	       strcmp(opstream_str(s, p->file), opstream_str(t, q->file)) == 0 &&
	       strcmp(opstream_str(s, s->forms.v[s->ops.v[a->op].form].name),
		       opstream_str(t, t->forms.v[t->ops.v[b->op].form].name)) == 0;
}

struct model_finding finding_make(
	enum finding_kind kind, const struct finding_op *a, const struct finding_op *b)
{
	static const char *const codes[FIND_COUNT] = {"model-race", "model-deadlock",
		"model-unmatched-wait", "model-double-set", "model-flag-left-set", "model-bad-flag",
		"model-counter-full", "model-missing-barrier", "model-blocks-share-memory"};
	enum note_kind means = note_row(codes[kind])->kind;

	return (struct model_finding){.kind = kind,
		.note = {.kind = means,
			.weight = note_kind_weight(means),
			.code = codes[kind],
			.offset = INCORE_NO_OFFSET,
			.count = 1},
		.a = *a,
		.b = *b};
}

struct model_finding *finding_add(struct timed *t, const struct opstream_set *set,
	enum finding_kind kind, const struct finding_op *a, const struct finding_op *b)
{
	EACH (struct model_finding, f, t->findings.v, t->findings.n) {
		if (f->kind == kind && is_same_place(set, &f->a, a) &&
			is_same_place(set, &f->b, b)) {
			f->note.count++;
			return f;
		}
	}
	if (t->findings.n >= ENGINE_FINDINGS) {
		t->n_more++;
		t->more = finding_make(kind, a, b);
		t->more.note.message = "";
		return &t->more;
	}
	if (!VEC_PUSH(&t->findings, finding_make(kind, a, b)))
		return NULL;
	return &t->findings.v[t->findings.n - 1];
}

bool finding_put_op(const struct opstream_set *set, const struct finding_op *o, struct strbuf *out)
{
	const struct opstream *s;
	const struct op_exec *x;
	const struct op_site *at;
	const char *file, *slash;

	if (o->op == NO_OP)
		return sb_puts(out, "the end of the kernel");
	s = &set->v.v[o->stream];
	x = &s->ops.v[o->op];
	at = &s->sites.v[x->site];
	file = opstream_str(s, at->file);
	slash = strrchr(file, '/');
	sb_printf(out, "%s (seq %u, ", opstream_str(s, s->forms.v[x->form].name), o->op);
	if (at->line)
		sb_printf(out, "%s:%u, ", slash ? slash + 1 : *file ? file : "line", at->line);
	return sb_printf(out, "%s, %s)", op_pipe_name(o->pipe), opstream_core_name(s));
}
