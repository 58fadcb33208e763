/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.c: how much of the time did the matrix pipes have work, measured and modelled? */
#include "analysis/waves/matrix.h"

#include "analysis/waves/matrix_passes.h"
#include "base/mem.h"
#include "isa/amd_matrix.h"
#include "trace/account.h"

/* --- passes ----------------------------------------------------------------------------------- */

uint32_t matrix_passes(const struct trace *t, uint32_t *out)
{
	uint32_t longest = 0;

	for (code_idx i = 0; i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];
		struct amd_matrix_shape shape;
		uint32_t cyc = 0;

		if (!r->is_label && r->inst_class == CLASS_MATRIX && t->meta.arch &&
			amd_matrix_shape((struct str){r->text, r->text_len}, &shape))
			cyc = amd_matrix_cycles(t->meta.arch, &shape);
		if (out)
			out[i] = cyc;
		longest = cyc > longest ? cyc : longest;
	}
	return longest;
}

/* --- the matrix pipe -------------------------------------------------------------------------- */

enum set_kind { SET_RESIDENT, SET_ISSUE, SET_MODELLED, SET_KINDS };

struct matrix_worker {
	struct simd_worker simd;
	uint64_t *row_hits;
	uint64_t hits, issue_sum, stall_sum, modelled_sum, modelled_hits, unknown_hits, macs;
};

static void matrix_worker_deinit(void *self, void *mine)
{
	const struct matrix *m = self;
	struct matrix_worker *w = mine;

	simd_worker_deinit(&m->sets, &w->simd);
	mem_free(w->row_hits);
}

static bool matrix_worker_init(void *self, void *mine)
{
	const struct matrix *m = self;
	struct matrix_worker *w = mine;

	w->row_hits = mem_zalloc((size_t)m->trace->n_code + 1, sizeof(uint64_t));
	return w->row_hits != NULL;
}

/* Adds the modelled busy time of one issue, cut to the lifetime of its wave. */
static bool add_modelled(const struct matrix *m, struct matrix_worker *w, struct spans *sets,
	const struct account *a)
{
	code_idx code = a->d->code[a->i];
	uint32_t cyc = code == NO_CODE ? 0 : m->row_cycles[code];
	uint64_t start = a->at.issue, end = start + cyc;

	if (cyc == 0) {
		w->unknown_hits++;
		return true;
	}
	w->modelled_hits++;
	w->modelled_sum += cyc;
	w->macs += m->row_macs[code];
	if (end > a->hi)
		end = a->hi;
	return end <= start || spans_add(&sets[SET_MODELLED], start, end);
}

static bool matrix_track(
	void *self, void *mine, const struct walk_track *wt, struct incore_error *e)
{
	struct matrix *m = self;
	struct matrix_worker *w = mine;
	struct spans *sets = simd_sets_of(&m->sets, &w->simd, wt->idx);
	struct account a;

	account_begin(&a, wt->data, wt->from_cyc, wt->to_cyc);
	if (!sets || !spans_add(&sets[SET_RESIDENT], a.lo, a.hi))
		return err_nomem(e);
	while (account_next_of(&a, UINT64_C(1) << CLASS_MATRIX)) {
		code_idx code = wt->data->code[a.i];

		w->issue_sum += a.issue_cyc;
		w->stall_sum += a.stall_cyc;
		if (!a.is_hit)
			continue;
		w->hits++;
		if (code != NO_CODE)
			w->row_hits[code]++;
		if ((a.issue_cyc && !spans_add(&sets[SET_ISSUE], a.at.issue, a.at.end)) ||
			!add_modelled(m, w, sets, &a))
			return err_nomem(e);
	}
	return true;
}

static bool matrix_merge(void *self, void *mine, struct incore_error *e)
{
	struct matrix *m = self;
	struct matrix_worker *w = mine;

	if (!simd_sets_hand_in(&m->sets, &w->simd))
		return err_nomem(e);
	for (code_idx i = 0; i < m->trace->n_code; i++)
		m->row_hits[i] += w->row_hits[i];
	m->hits += w->hits;
	m->issue_sum_cyc += w->issue_sum;
	m->stall_sum_cyc += w->stall_sum;
	m->modelled_sum_cyc += w->modelled_sum;
	m->modelled_hits += w->modelled_hits;
	m->unknown_hits += w->unknown_hits;
	m->macs += w->macs;
	return true;
}

/* Tracks are sorted by coordinates, so waves of one SIMD are adjacent. */
static void group_tracks(struct matrix *m)
{
	const struct trace *t = m->trace;

	for (track_idx i = 0; i < t->n_tracks; i++) {
		const uint32_t *a = t->tracks[i].coord, *b = i ? t->tracks[i - 1].coord : a;

		if (i == 0 || a[0] != b[0] || a[1] != b[1] || a[2] != b[2])
			m->n_groups++;
		m->group[i] = m->n_groups - 1;
	}
}

static void model_rows(struct matrix *m)
{
	const struct trace *t = m->trace;

	matrix_passes(t, m->row_cycles);
	for (code_idx i = 0; i < t->n_code; i++) {
		struct amd_matrix_shape shape;

		if (t->code[i].is_label || t->code[i].inst_class != CLASS_MATRIX)
			continue;
		m->static_rows++;
		if (!amd_matrix_shape((struct str){t->code[i].text, t->code[i].text_len}, &shape))
			continue;
		m->row_macs[i] = amd_matrix_macs(&shape);
	}
}

static bool take_lengths(void *self, uint32_t group, struct spans *sets)
{
	struct matrix *m = self;

	for (unsigned k = 0; k < SET_KINDS; k++)
		if (!spans_fold(&sets[k]))
			return false;
	m->simds[group] = (struct matrix_simd){span_list_length(&sets[SET_RESIDENT].once),
		span_list_length(&sets[SET_ISSUE].once),
		span_list_length(&sets[SET_MODELLED].once)};
	return true;
}

struct matrix *matrix_new(const struct trace *t)
{
	struct matrix *m = mem_zalloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->trace = t;
	m->row_cycles = mem_zalloc((size_t)t->n_code + 1, sizeof(*m->row_cycles));
	m->row_macs = mem_zalloc((size_t)t->n_code + 1, sizeof(*m->row_macs));
	m->row_hits = mem_zalloc((size_t)t->n_code + 1, sizeof(*m->row_hits));
	m->group = mem_zalloc((size_t)t->n_tracks + 1, sizeof(*m->group));
	if (!m->row_cycles || !m->row_macs || !m->row_hits || !m->group) {
		matrix_free(m);
		return NULL;
	}
	group_tracks(m);
	model_rows(m);
	m->sets = (struct simd_sets){.self = m,
		.done = take_lengths,
		.n_kinds = SET_KINDS,
		.is_flat = true,
		.group = m->group,
		.n_groups = m->n_groups};
	m->simds = mem_zalloc((size_t)m->n_groups + 1, sizeof(*m->simds));
	if (!m->simds || !simd_sets_init(&m->sets, t->n_tracks)) {
		matrix_free(m);
		return NULL;
	}
	return m;
}

void matrix_free(struct matrix *m)
{
	if (!m)
		return;
	simd_sets_deinit(&m->sets);
	mem_free(m->simds);
	mem_free(m->row_cycles);
	mem_free(m->row_macs);
	mem_free(m->row_hits);
	mem_free(m->group);
	mem_free(m);
}

struct collector matrix_collector(struct matrix *m)
{
	return (struct collector){m, sizeof(struct matrix_worker), matrix_worker_init, matrix_track,
		matrix_merge, matrix_worker_deinit};
}

bool matrix_finish(struct matrix *m, struct incore_error *e)
{
	if (!simd_sets_finish(&m->sets))
		return err_nomem(e);
	EACH (const struct matrix_simd, s, m->simds, m->n_groups) {
		m->resident_cyc += s->resident_cyc;
		m->n_simds += s->resident_cyc > 0;
		m->issue_cyc += s->issue_cyc;
		m->modelled_cyc += s->modelled_cyc;
	}
	for (code_idx i = 0; i < m->trace->n_code; i++)
		m->executed_rows += m->row_hits[i] > 0;
	return true;
}

bool matrix_simd_of(const struct matrix *m, track_idx i, struct matrix_simd *out)
{
	if (!m->hits || (i && m->group[i] == m->group[i - 1]))
		return false;
	*out = m->simds[m->group[i]];
	return out->resident_cyc > 0;
}
