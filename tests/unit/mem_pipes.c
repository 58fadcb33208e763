/* SPDX-License-Identifier: Apache-2.0 */
/* mem_pipes.c: arrays of a test become a sealed trace of pipes. */
#include "mem_pipes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/ascend.h"

static void must(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "mem_pipes: %s\n", what);
		abort();
	}
}

struct loader {
	struct mem_pipes m;
	code_idx **rows; /* by track, by slice */
};

static bool load(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	const struct loader *l = t->loader_ctx;
	const struct mem_pipe *k = &l->m.pipes[i];

	if (!track_data_reserve(d, k->n_slices))
		return err_nomem(e);
	for (uint32_t n = 0; n < k->n_slices && !(want & TRACK_NO_SLICES); n++) {
		d->start_cyc[n] = k->slices[n].start;
		d->dur_cyc[n] = k->slices[n].dur;
		d->stall_cyc[n] = k->slices[n].stall;
		d->code[n] = l->rows[i][n];
		d->tag[n] = (uint8_t)t->tracks[i].coord[2];
		d->inst_class[n] = (uint8_t)ascend_class(
			d->tag[n], str_of(t->opcodes[t->code[d->code[n]].opcode]));
		d->n++;
	}
	d->begin_cyc = t->tracks[i].begin_cyc;
	d->end_cyc = t->tracks[i].end_cyc;
	d->stated_slices = k->n_slices;
	memcpy(d->coord_file, t->tracks[i].coord, sizeof(d->coord_file));
	return true;
}

static void close_loader(void *ctx)
{
	struct loader *l = ctx;

	for (uint32_t i = 0; i < l->m.n_pipes; i++)
		free(l->rows[i]);
	free(l->rows);
	free(l);
}

static void add_track(struct trace *t, const struct mem_pipe *k)
{
	struct track *x = &t->tracks[t->n_tracks];
	struct ascend_unit unit;
	const char *slash = strchr(k->name, '/');

	must(slash && ascend_unit_of((struct str){k->name, (size_t)(slash - k->name)}, &unit),
		k->name);
	*x = (struct track){.coord = {unit.core, unit.unit, ascend_pipe_of_lane(str_of(slash + 1))},
		.n_slices = k->n_slices,
		.begin_cyc = UINT64_MAX,
		.kernel_id = UINT32_MAX,
		.workgroup = NO_VALUE,
		.name = k->name};
	for (uint32_t i = 0; i < k->n_slices; i++) {
		uint64_t end = k->slices[i].start + k->slices[i].dur;

		x->begin_cyc =
			k->slices[i].start < x->begin_cyc ? k->slices[i].start : x->begin_cyc;
		x->end_cyc = end > x->end_cyc ? end : x->end_cyc;
	}
	t->n_tracks++;
}

/* Pipes of one core share its span. */
static void share_spans(struct trace *t)
{
	for (uint32_t i = 0; i < t->n_tracks; i++)
		for (uint32_t k = 0; k < t->n_tracks; k++) {
			struct track *a = &t->tracks[i], *b = &t->tracks[k];

			if (a->coord[0] != b->coord[0] || a->coord[1] != b->coord[1])
				continue;
			a->begin_cyc = b->begin_cyc =
				a->begin_cyc < b->begin_cyc ? a->begin_cyc : b->begin_cyc;
			a->end_cyc = b->end_cyc = a->end_cyc > b->end_cyc ? a->end_cyc : b->end_cyc;
		}
}

static void add_opcode(struct trace *t, struct code_row *r)
{
	size_t n = strcspn(r->text, " ");

	for (r->opcode = 0; r->opcode < t->n_opcodes; r->opcode++)
		if (strlen(t->opcodes[r->opcode]) == n &&
			memcmp(t->opcodes[r->opcode], r->text, n) == 0)
			return;
	t->opcodes[t->n_opcodes++] = arena_strndup(&t->arena, r->text, n);
}

static code_idx add_row(struct trace *t, const struct mem_slice *s, unsigned pipe, uint64_t bytes)
{
	struct code_row *r;

	for (code_idx i = 0; i < t->n_code; i++)
		if (!strcmp(t->code[i].text, s->text))
			return i;
	r = &t->code[t->n_code];
	*r = (struct code_row){.text = s->text,
		.text_len = (uint32_t)strlen(s->text),
		.number = t->n_code,
		.address = 0x1000 + 4 * (uint64_t)t->n_code,
		.source = s->source ? s->source : "",
		.bytes = bytes,
		.inst_class =
			(uint8_t)ascend_class(pipe, (struct str){s->text, strcspn(s->text, " ")})};
	add_opcode(t, r);
	return t->n_code++;
}

static void add_code(struct trace *t, struct loader *l)
{
	size_t n = 1;

	for (uint32_t i = 0; i < l->m.n_pipes; i++)
		n += l->m.pipes[i].n_slices;
	t->code = arena_zalloc(&t->arena, n, sizeof(*t->code));
	t->opcodes = arena_zalloc(&t->arena, n, sizeof(*t->opcodes));
	l->rows = calloc(l->m.n_pipes + 1, sizeof(*l->rows));
	must(t->code && t->opcodes && l->rows, "no memory");
	for (uint32_t i = 0; i < l->m.n_pipes; i++) {
		const struct mem_pipe *k = &l->m.pipes[i];

		l->rows[i] = calloc(k->n_slices + 1, sizeof(**l->rows));
		must(l->rows[i] != NULL, "no memory");
		for (uint32_t s = 0; s < k->n_slices; s++)
			l->rows[i][s] =
				add_row(t, &k->slices[s], t->tracks[i].coord[2], l->m.bytes);
	}
}

struct trace *mem_pipes_new(const struct mem_pipes *m)
{
	struct trace *t = trace_new();
	struct loader *l = calloc(1, sizeof(*l));
	struct incore_error e = {0};

	must(t && l, "no memory");
	l->m = *m;
	t->meta.vendor = VENDOR_ASCEND;
	t->meta.evidence = EVIDENCE_VENDOR_SIMULATOR;
	t->meta.format = "memory";
	t->meta.origin = "memory";
	t->meta.kernel = "k";
	t->meta.clock_quantum = 1;
	t->meta.clock_hz_num = 1850000000;
	t->meta.clock_hz_den = 1;
	t->meta.clock_source = "test";
	t->levels[0] = "core";
	t->levels[1] = "unit";
	t->levels[2] = "pipe";
	t->clocks = arena_zalloc(&t->arena, 1, sizeof(*t->clocks));
	t->tracks = arena_zalloc(&t->arena, m->n_pipes + 1, sizeof(*t->tracks));
	must(t->clocks && t->tracks, "no memory");
	t->clocks[0].is_aligned = true;
	t->n_clocks = 1;
	t->reference_clock = 0;
	for (uint32_t i = 0; i < m->n_pipes; i++)
		add_track(t, &m->pipes[i]);
	share_spans(t);
	t->loader = (struct track_loader){.load = load, .close = close_loader};
	t->loader_ctx = l;
	add_code(t, l);
	t->links = arena_zalloc(&t->arena, m->n_links + 1, sizeof(*t->links));
	must(t->links != NULL, "no memory");
	for (uint32_t i = 0; i < m->n_links; i++)
		t->links[i] = m->links[i];
	t->n_links = m->n_links;
	t->tables = arena_memdup(&t->arena, m->tables, m->n_tables * sizeof(*m->tables));
	must(!m->n_tables || t->tables, "no memory");
	t->n_tables = m->n_tables;
	must(trace_seal(t, &e), e.message ? e.message : "cannot be sealed");
	return t;
}
