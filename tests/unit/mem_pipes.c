/* SPDX-License-Identifier: Apache-2.0 */
/* mem_pipes.c: arrays of a test become a sealed trace of pipes. */
#include "mem_pipes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/ascend.h"
#include "trace/mem_tracks.h"

static void must(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "mem_pipes: %s\n", what);
		abort();
	}
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

static void add_slices(struct trace *t, struct mem_tracks *to, const struct mem_pipe *k,
	unsigned pipe, uint64_t bytes)
{
	struct track_slice *v = mem_tracks_add(to, k->n_slices);

	must(v != NULL, "no memory");
	for (uint32_t i = 0; i < k->n_slices; i++) {
		const struct mem_slice *s = &k->slices[i];
		code_idx row = add_row(t, s, pipe, bytes);

		v[i] = (struct track_slice){s->start, s->dur, s->stall, row,
			(uint8_t)ascend_class(pipe, str_of(t->opcodes[t->code[row].opcode])),
			(uint8_t)pipe, 0};
	}
}

static void add_code(struct trace *t, const struct mem_pipes *m)
{
	struct mem_tracks *to = mem_tracks_new(t);
	size_t n = 1;

	for (uint32_t i = 0; i < m->n_pipes; i++)
		n += m->pipes[i].n_slices;
	t->code = arena_zalloc(&t->arena, n, sizeof(*t->code));
	t->opcodes = arena_zalloc(&t->arena, n, sizeof(*t->opcodes));
	must(to && t->code && t->opcodes, "no memory");
	for (uint32_t i = 0; i < m->n_pipes; i++)
		add_slices(t, to, &m->pipes[i], t->tracks[i].coord[2], m->bytes);
}

struct trace *mem_pipes_new(const struct mem_pipes *m)
{
	struct trace *t = trace_new();
	struct incore_error e = {0};

	must(t != NULL, "no memory");
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
	add_code(t, m);
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
