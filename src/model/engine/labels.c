/* SPDX-License-Identifier: Apache-2.0 */
/* labels.c: the origin of a trace and how far it may be trusted, as a table and as notes. */
#include "base/search.h"
#include "model/engine/to_trace_internal.h"

struct labels {
	struct trace *t;
	VEC(const char *) cells; /* key, value, key, value ... */
	struct strbuf value;
	bool failed;
};

/* Adds the text in l->value. */
static void put_label(struct labels *l, const char *key)
{
	const char *copy =
		l->value.failed ? NULL : arena_strdup(&l->t->arena, l->value.n ? l->value.p : "");

	if (!copy || !VEC_PUSH(&l->cells, key) || !VEC_PUSH(&l->cells, copy))
		l->failed = true;
	sb_reset(&l->value);
}

static void put_text(struct labels *l, const char *key, const char *text)
{
	sb_puts(&l->value, text);
	put_label(l, key);
}

/* --- ops by name --- */

struct op_count {
	const char *name;
	uint64_t n;
};

struct op_counts {
	VEC(struct op_count) v;
};

static bool count_name(struct op_counts *c, const char *name, uint64_t n)
{
	for (size_t i = 0; i < c->v.n; i++)
		if (strcmp(c->v.v[i].name, name) == 0) {
			c->v.v[i].n += n;
			return true;
		}
	return VEC_PUSH(&c->v, (struct op_count){name, n});
}

ORDER(name_cmp, struct op_count, A_TO_Z(name))

static bool count_stream(
	const struct opstream *s, const struct profile *p, bool unknown, struct op_counts *out)
{
	uint64_t *n = mem_zalloc(s->forms.n + 1, sizeof(*n));
	bool ok = n != NULL;

	for (size_t i = 0; ok && i < s->ops.n; i++)
		n[s->ops.v[i].form]++;
	for (size_t i = 0; ok && i < s->forms.n; i++) {
		struct op_price q;

		price_form(p, s, &s->forms.v[i], &q);
		if (n[i] && (unknown ? q.is_unknown : q.is_fallback && !q.is_unknown))
			ok = count_name(out, opstream_str(s, s->forms.v[i].name), n[i]);
	}
	mem_free(n);
	return ok;
}

static void put_ops(struct labels *l, const char *key, const struct opstream_set *set,
	const struct profile *p, bool unknown)
{
	struct op_counts c = {0};

	for (size_t i = 0; i < set->v.n; i++)
		if (!count_stream(&set->v.v[i], p, unknown, &c))
			l->failed = true;
	SORT(c.v.v, c.v.n, name_cmp);
	for (size_t i = 0; i < c.v.n; i++)
		sb_printf(&l->value, "%s%s: %llu", i ? ", " : "", c.v.v[i].name,
			(unsigned long long)c.v.v[i].n);
	put_label(l, key);
	VEC_FREE(&c.v);
}

/* --- the table --- */

static void put_pipe_status(struct labels *l, const struct timed *timed)
{
	for (unsigned p = 0; p < ENGINE_PIPES; p++) {
		unsigned worst = 0;
		uint64_t n = 0;
		char buf[16];

		for (size_t i = 0; i < timed->cores.n; i++) {
			const struct timed_lane *k = &timed->cores.v[i].lanes[p];

			n += p == OPP_S ? k->busy_cyc : k->n_ops;
			worst = k->status > worst ? k->status : worst;
		}
		if (n)
			sb_printf(&l->value, "%s%s: %s", l->value.n ? ", " : "",
				ascend_pipe_name(model_lane(p), buf),
				prof_status_name((enum prof_status)worst));
	}
	put_label(l, "pipe_status");
}

static void put_slots(struct labels *l, const struct opstream_set *set)
{
	uint64_t missing = 0;

	for (size_t i = 0; i < set->v.n; i++)
		missing |= set->v.v[i].missing_slots;
	for (unsigned i = 0; i < OPSTREAM_SLOTS; i++)
		if (missing >> i & 1)
			sb_printf(&l->value, "%s%u", l->value.n ? ", " : "", i);
	put_label(l, "missing_slots");
}

bool model_confidence_of(const struct opstream_set *set, const struct timed *timed,
	const struct profile *p, struct model_confidence *out)
{
	bool has_cube = false, has_vector = false;
	const struct prof_residual *x;
	enum kernel_kind k;

	for (size_t i = 0; i < set->v.n; i++) {
		has_cube |= set->v.v[i].core == CORE_AIC;
		has_vector |= set->v.v[i].core != CORE_AIC;
	}
	k = has_cube && has_vector ? KIND_MIXED : has_cube ? KIND_CUBE : KIND_VECTOR;
	x = &p->residuals[k];
	*out = (struct model_confidence){.kind = kernel_kind_name(k),
		.kernels = x->kernels,
		.low = (double)x->low_e4[timed->has_load] / PROF_ONE,
		.high = (double)x->high_e4[timed->has_load] / PROF_ONE,
		.has_load = timed->has_load,
		.source = x->source};
	return x->kernels > 0;
}

static void put_confidence(struct labels *l, const struct opstream_set *set,
	const struct timed *timed, const struct profile *p)
{
	struct model_confidence x;

	if (!model_confidence_of(set, timed, p, &x))
		return;
	sb_printf(&l->value, "%.2f to %.2f", x.low, x.high);
	put_label(l, "device_range");
	sb_printf(&l->value,
		"four fifths of %u %s kernels took %.2f to %.2f of their estimate %s load (%s)",
		x.kernels, x.kind, x.low, x.high, x.has_load ? "with" : "without", x.source);
	put_label(l, "confidence");
}

static void put_profile(struct labels *l, const struct profile *p)
{
	put_text(l, "evidence", evidence_name(EVIDENCE_ESTIMATE));
	put_text(l, "model", MODEL_NAME);
	put_text(l, "profile", p->name);
	put_text(l, "profile_sha256", p->sha256);
	put_text(l, "arch", op_arch_name(p->arch));
	put_text(l, "soc", p->soc);
	sb_printf(&l->value, "%llu", (unsigned long long)(p->k[K_CLOCK_MHZ].e4 / PROF_ONE));
	put_label(l, "clock_mhz");
	put_text(l, "calibration", p->calibration);
}

static void put_rest(struct labels *l, const struct opstream_set *set, const struct timed *timed,
	const struct profile *p)
{
	const struct opstream *s = set->v.n ? &set->v.v[0] : NULL;

	put_ops(l, "fallback_ops", set, p, false);
	put_ops(l, "unknown_ops", set, p, true);
	sb_printf(&l->value, "%llu", (unsigned long long)timed->n_external);
	put_label(l, "external_waits");
	put_text(l, "args_origin", s && s->args_origin == ARGS_DUMP ? "dump" : "synthetic");
	put_slots(l, set);
	put_text(l, "front_end", s ? opstream_str(s, s->front_end) : "");
	sb_printf(&l->value, "v_overlap: %s, dma_serial: %s", p->v_overlap ? "on" : "off",
		p->dma_serial ? "on" : "off");
	put_label(l, "switches");
	put_text(l, "complete", timed->is_complete ? "true" : "false");
	if (!timed->is_complete)
		put_text(l, "incomplete_because", timed->reason ? timed->reason : "");
	put_text(l, "text", p->arch == ARCH_A5 ? MODEL_TEXT "; uncalibrated" : MODEL_TEXT);
}

static bool add_table(struct labels *l)
{
	static const char *const cols[] = {"key", "value"};
	struct trace *t = l->t;
	struct named_table k = {.name = ASCEND_TABLE_LABELS,
		.origin = "model",
		.n_cols = 2,
		.n_rows = (uint32_t)(l->cells.n / 2)};

	k.cols = arena_memdup(&t->arena, cols, sizeof(cols));
	k.cells = arena_memdup(&t->arena, l->cells.v, l->cells.n * sizeof(*l->cells.v));
	t->tables = arena_zalloc(&t->arena, 1, sizeof(*t->tables));
	if (!k.cols || !k.cells || !t->tables)
		return false;
	t->tables[0] = k;
	t->n_tables = 1;
	return true;
}

bool model_labels_add(struct trace *t, const char *key, const char *value)
{
	struct named_table *k = &t->tables[0];
	const char **cells = arena_zalloc(&t->arena, 2 * (size_t)k->n_rows + 2, sizeof(*cells));
	const char *copies[2] = {arena_strdup(&t->arena, key), arena_strdup(&t->arena, value)};

	if (!cells || !copies[0] || !copies[1])
		return false;
	memcpy(cells, k->cells, 2 * (size_t)k->n_rows * sizeof(*cells));
	memcpy(cells + 2 * (size_t)k->n_rows, copies, sizeof(copies));
	k->cells = cells;
	k->n_rows++;
	return true;
}

/* --- notes --- */

static bool put_notes(struct trace *t, const struct timed *timed)
{
	bool ok = true;

	for (size_t i = 0; ok && i < timed->findings.n; i++) {
		const struct model_finding *f = &timed->findings.v[i];

		ok = trace_note(t, f->note.code, NULL, INCORE_NO_OFFSET, f->note.count, "%s",
			f->note.message);
	}
	if (ok && timed->n_more)
		ok = trace_note(t, "model-more-findings", NULL, INCORE_NO_OFFSET, timed->n_more,
			"%llu more findings", (unsigned long long)timed->n_more);
	if (ok && !timed->is_complete)
		ok = trace_note(t, "model-incomplete", NULL, INCORE_NO_OFFSET, 1,
			"the kernel was not timed to its end: %s",
			timed->reason ? timed->reason : "unknown");
	if (ok && timed->n_unknown)
		ok = trace_note(t, "model-unknown-ops", NULL, INCORE_NO_OFFSET, timed->n_unknown,
			"%llu ops that the model does not know, at a guess",
			(unsigned long long)timed->n_unknown);
	if (ok && timed->n_fallback)
		ok = trace_note(t, "model-fallback-ops", NULL, INCORE_NO_OFFSET, timed->n_fallback,
			"%llu ops have no price of their own",
			(unsigned long long)timed->n_fallback);
	if (ok && timed->n_clamped)
		ok = trace_note(t, "model-long-slices", NULL, INCORE_NO_OFFSET, timed->n_clamped,
			"slices are longer than 32 bits of cycles");
	return ok;
}

bool model_labels_put(struct trace *t, const struct opstream_set *set, const struct timed *timed,
	const struct profile *p)
{
	struct labels l = {.t = t};
	bool ok;

	put_profile(&l, p);
	put_pipe_status(&l, timed);
	put_rest(&l, set, timed, p);
	put_confidence(&l, set, timed, p);
	ok = !l.failed && add_table(&l);
	VEC_FREE(&l.cells);
	sb_free(&l.value);
	return ok && put_notes(t, timed);
}
