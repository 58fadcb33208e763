/* SPDX-License-Identifier: Apache-2.0 */
/* traced.c: how long did the units of a traced compute unit work? */
#include "analysis/ledger/traced.h"

#include <string.h>

#define LANES 64

static void add(struct traced_unit *u, double busy, double all)
{
	u->is_known = true;
	u->busy_cyc += busy;
	u->all_cyc += all;
	if (all > 0 && 100 * busy / all > u->busiest_pct)
		u->busiest_pct = 100 * busy / all;
}

/* --- by SIMD and compute unit --------------------------------------------------------------- */

static int simd_level(const struct trace *t)
{
	for (int k = 0; k < TRACK_LEVELS && t->levels[k]; k++)
		if (strcmp(t->levels[k], "simd") == 0)
			return k;
	return 0;
}

static bool same_unit(const struct trace *t, const struct utilization_simd *a,
	const struct utilization_simd *b, int level)
{
	return memcmp(t->tracks[a->first].coord, t->tracks[b->first].coord,
		       (size_t)level * sizeof(t->tracks[0].coord[0])) == 0;
}

struct unit_sums { /* of one compute unit */
	double resident, lds, vmem;
};

/* Scalar instructions are of two units: the cycles in which they issued tell how they share. */
static double smem_share(const struct summary *s)
{
	double smem = (double)s->hot->classes[CLASS_SMEM].bucket[BUCKET_ISSUE];
	double salu = (double)s->hot->classes[CLASS_SALU].bucket[BUCKET_ISSUE];

	return smem + salu > 0 ? smem / (smem + salu) : 0;
}

/* A SIMD has its turn every four cycles, and then one instruction of each kind goes. */
static void add_simd(const struct utilization_simd *g, double smem, struct traced_units *out)
{
	double all = (double)g->cyc[PIPE_RESIDENT], scalar = (double)g->cyc[PIPE_SCALAR];

	add(&out->unit[MACHINE_VALU], (double)g->cyc[PIPE_VALU], all);
	add(&out->unit[MACHINE_SALU], scalar * (1 - smem), all);
	add(&out->unit[MACHINE_SMEM], scalar * smem, all);
	add(&out->unit[MACHINE_BRANCH], (double)g->cyc[PIPE_BRANCH], all);
}

/* LDS and the addresses of vector memory are one for all: an instruction has them for as long as it
 * issues. */
static void add_unit(const struct unit_sums *u, struct traced_units *out)
{
	add(&out->unit[MACHINE_LDS], u->lds, u->resident);
	add(&out->unit[MACHINE_VMEM], u->vmem, u->resident);
}

static void by_place(const struct summary *s, struct traced_units *out)
{
	const struct utilization *x = s->utilization;
	const int level = simd_level(s->trace);
	const uint32_t n = x->groups ? x->groups->n_groups : 0;
	double smem = smem_share(s);

	for (uint32_t i = 0, end; i < n; i = end) {
		struct unit_sums u = {0};

		for (end = i; end < n; end++) {
			const struct utilization_simd *g = &x->simds[end];

			if (g->first == NO_TRACK)
				continue;
			if (x->simds[i].first != NO_TRACK &&
				!same_unit(s->trace, &x->simds[i], g, level))
				break;
			add_simd(g, smem, out);
			u.lds += (double)g->cyc[PIPE_LDS];
			u.vmem += (double)g->cyc[PIPE_VMEM];
			if ((double)g->cyc[PIPE_RESIDENT] > u.resident)
				u.resident = (double)g->cyc[PIPE_RESIDENT];
			if (x->simds[i].first == NO_TRACK)
				i = end;
		}
		if (u.resident > 0)
			add_unit(&u, out);
	}
}

/* --- bytes ---------------------------------------------------------------------------------- */

/* Bytes that a lane moves: "buffer_load_dwordx4" 16, "ds_read2_b32" 8, "global_load_ushort" 4. */
static double lane_bytes(const char *op)
{
	static const struct {
		const char *word;
		double bytes;
	} widths[] = {{"x4", 16}, {"b128", 16}, {"x3", 12}, {"b96", 12}, {"x2", 8}, {"b64", 8},
		{"u64", 8}, {"f64", 8}};
	double bytes = 4;

	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++)
		if (strstr(op, widths[i].word)) {
			bytes = widths[i].bytes;
			break;
		}
	return strncmp(op, "ds_read2", 8) == 0 || strncmp(op, "ds_write2", 9) == 0 ||
			       strncmp(op, "ds_load_2", 9) == 0
		       ? 2 * bytes
		       : bytes;
}

static void by_bytes(
	const struct summary *s, const struct machine_rates *rates, struct traced_units *out)
{
	const struct trace *t = s->trace;
	double lds = 0, l1 = 0, export = 0, all = out->unit[MACHINE_VMEM].all_cyc;
	struct traced_unit *of_lds = &out->unit[MACHINE_LDS];

	for (code_idx i = 0; i < t->n_code; i++) {
		const struct hot_sums *h = &s->hot->rows[i];
		const char *op = t->opcodes[t->code[i].opcode];
		enum inst_class c = (enum inst_class)t->code[i].inst_class;
		double bytes = (double)h->totals.hit * LANES * lane_bytes(op);

		if (c == CLASS_LDS || c == CLASS_LDS_XLANE)
			lds += bytes;
		else if (c >= CLASS_VMEM_LOAD && c <= CLASS_VMEM_TO_LDS)
			l1 += bytes;
		if (strncmp(op, "exp", 3) == 0 && (op[3] == '\0' || strcmp(op, "export") == 0))
			export += (double)h->bucket[BUCKET_ISSUE];
	}
	if (rates->lds_bytes > 0 && lds / rates->lds_bytes > of_lds->busy_cyc) {
		of_lds->busiest_pct *=
			lds / rates->lds_bytes / (of_lds->busy_cyc > 0 ? of_lds->busy_cyc : 1);
		of_lds->busy_cyc = lds / rates->lds_bytes;
	}
	if (rates->l1_bytes > 0 && l1 > 0)
		add(&out->unit[MACHINE_VMEM_DATA], l1 / rates->l1_bytes, all);
	if (export > 0)
		add(&out->unit[MACHINE_EXPORT], export, all);
}

void traced_units(
	const struct summary *s, const struct machine_rates *rates, struct traced_units *out)
{
	const struct matrix *m = s->matrix;

	*out = (struct traced_units){0};
	if (!s->utilization || !s->utilization->cyc[PIPE_RESIDENT])
		return;
	by_place(s, out);
	if (m && m->hits)
		add(&out->unit[MACHINE_MFMA],
			(double)(m->modelled_cyc > m->issue_cyc ? m->modelled_cyc : m->issue_cyc),
			(double)m->resident_cyc);
	if (rates)
		by_bytes(s, rates, out);
}
