/* SPDX-License-Identifier: Apache-2.0 */
/* blob_read.c: decodes a blob into a view. Every count is checked against the bytes left. */
#include "base/mem.h"
#include "codec/varint.h"
#include "serve/report/blob_internal.h"

struct reading {
	struct fields f;
	struct blob_view *out;
	struct trace *t;
};

bool blob_streams_init(struct blob_streams *s, const struct trace *t)
{
	s->tag_of = mem_zalloc((size_t)t->n_code + 1, 1);
	s->class_of = mem_zalloc((size_t)t->n_code + 1, 1);
	for (uint32_t i = 0; s->class_of && i < t->n_code; i++)
		s->class_of[i] = t->code[i].inst_class;
	return s->tag_of && s->class_of;
}

void blob_streams_deinit(struct blob_streams *s)
{
	mem_free(s->tag_of);
	mem_free(s->class_of);
}

/* Sets the opcodes, which the accounting of pipes uses: the first word of each text. */
static bool name_opcodes(struct reading *x)
{
	struct trace *t = x->t;

	t->opcodes = arena_zalloc(&t->arena, t->n_code, sizeof(*t->opcodes));
	x->f.is_nomem |= !t->opcodes;
	for (uint32_t i = 0; fields_ok(&x->f) && i < t->n_code; i++) {
		const char *text = t->code[i].text, *end = text;

		while (*end && *end != ' ')
			end++;
		t->opcodes[i] = arena_strndup(&t->arena, text, (size_t)(end - text));
		x->f.is_nomem |= !t->opcodes[i];
		t->code[i].opcode = i;
	}
	t->n_opcodes = t->n_code;
	return fields_ok(&x->f);
}

/* --- columns --- */

struct streams {
	struct bytes_reader r[BLOB_STREAMS];
	struct blob_streams predicted;
};

static bool get_slices(struct reading *x, struct streams *s, struct lane *l)
{
	uint32_t *start = (uint32_t *)l->start, *dur = (uint32_t *)l->dur;
	uint32_t *stall = (uint32_t *)l->stall, *code = (uint32_t *)l->code;
	uint8_t *cls = (uint8_t *)l->inst_class, *tag = (uint8_t *)l->tag;
	uint32_t n_code = x->t->n_code;
	uint64_t end = 0, last = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		uint64_t at = end + (uint64_t)bytes_zigzag(&s->r[BLOB_START]);
		uint64_t length = bytes_varint(&s->r[BLOB_DUR]);
		uint64_t lost = bytes_varint(&s->r[BLOB_STALL]);
		uint64_t row = last + 1 + (uint64_t)bytes_zigzag(&s->r[BLOB_CODE]);

		if (at > UINT32_MAX || length > UINT32_MAX - at || lost > length || row > n_code)
			return false;
		start[i] = (uint32_t)at;
		dur[i] = (uint32_t)length;
		stall[i] = (uint32_t)lost;
		code[i] = row == n_code ? NO_CODE : (code_idx)row;
		cls[i] = bytes_u8(&s->r[BLOB_CLASS]) ^ s->predicted.class_of[row];
		tag[i] = bytes_u8(&s->r[BLOB_TAG]) ^ s->predicted.tag_of[row];
		s->predicted.tag_of[row] = tag[i];
		if (l->sub)
			((uint8_t *)l->sub)[i] = bytes_u8(&s->r[BLOB_SUB]);
		end = at + length;
		last = row;
	}
	for (unsigned k = 0; k < BLOB_STREAMS; k++)
		if (s->r[k].is_failed)
			return false;
	return true;
}

static bool get_lane(struct reading *x, struct streams *s)
{
	struct columns *c = &x->out->columns;
	struct lane *l = &c->lanes[c->n_lanes];
	struct bytes_reader *r = &s->r[BLOB_LANES];
	uint64_t track = bytes_varint(r), n = bytes_varint(r), n_sub = bytes_varint(r);
	const struct lane *last = c->n_lanes ? l - 1 : NULL;

	*l = (struct lane){.base_cyc = bytes_varint(r)};
	l->begin_cyc = bytes_varint(r);
	l->end_cyc = bytes_varint(r);
	if (r->is_failed || track >= c->n_tracks || n_sub == 0 || n_sub > LANE_MAX_SUB ||
		n > (uint64_t)(s->r[BLOB_TAG].end - s->r[BLOB_TAG].p) ||
		l->base_cyc > INT64_MAX / 4 || l->end_cyc > INT64_MAX / 4)
		return false;
	if (last ? track != last->track && track != last->track + 1 : track != 0)
		return false;
	if (last && track == last->track) {
		if (l->base_cyc < last->base_cyc || last->first > UINT32_MAX - last->n - n)
			return false;
		l->first = last->first + last->n;
	}
	l->track = (track_idx)track;
	l->n = (uint32_t)n;
	l->n_sub = (uint32_t)n_sub;
	l->slot = slots_of_track(x->t->tracks[track].name);
	c->chunks[c->n_lanes] = lane_alloc(l);
	if (!c->chunks[c->n_lanes]) {
		x->f.is_nomem = true;
		return false;
	}
	c->n_lanes++;
	if (!get_slices(x, s, l))
		return false;
	lane_index(l);
	return true;
}

static bool get_columns(struct reading *x)
{
	struct columns *c = &x->out->columns;
	struct streams s = {0};
	uint64_t n = bytes_varint(&x->f.in);
	bool ok = n <= (uint64_t)(x->f.in.end - x->f.in.p) / 6; /* least bytes of a lane */

	n = ok ? n : 0;
	c->n_tracks = x->t->n_tracks;
	for (unsigned i = 0; i < BLOB_STREAMS; i++) {
		struct str bytes = bytes_str(&x->f.in);

		if (!x->f.in.is_failed)
			s.r[i] = (struct bytes_reader){.p = (const uint8_t *)bytes.p,
				.end = (const uint8_t *)bytes.p + bytes.n};
	}
	ok = ok && fields_ok(&x->f) && blob_streams_init(&s.predicted, x->t);
	c->lanes = mem_zalloc((size_t)n + 1, sizeof(*c->lanes));
	c->chunks = mem_zalloc((size_t)n + 1, sizeof(*c->chunks));
	ok = ok && c->lanes && c->chunks;
	for (uint32_t i = 0; ok && i < n; i++)
		ok = get_lane(x, &s);
	blob_streams_deinit(&s.predicted);
	return ok && (n ? c->lanes[n - 1].track + 1 == c->n_tracks : c->n_tracks == 0) &&
	       columns_number(c);
}

bool blob_read(const void *bytes, size_t n, struct blob_view *out, struct incore_error *e)
{
	struct reading x = {.out = out};
	struct trace *t = trace_new();
	uint64_t at;
	bool ok;

	*out = (struct blob_view){.trace = t};
	if (!t)
		return err_nomem(e);
	x.t = t;
	fields_init_read(&x.f, FORMAT_BLOB, bytes, n, &t->arena);
	ok = blob_move_tables(&x.f, &out->view, t, false) &&
	     (!out->view.has_pipes || name_opcodes(&x)) && get_columns(&x);
	at = (uint64_t)(x.f.in.p - (const uint8_t *)bytes);
	fields_deinit(&x.f);
	if (!ok) {
		blob_view_deinit(out);
		if (x.f.is_nomem)
			return err_nomem(e);
		return err_set(e, INCORE_BAD_INPUT, "bad-columns",
			"the columns are damaged near byte %llu", (unsigned long long)at);
	}
	out->view.trace = out->trace;
	out->view.columns = &out->columns;
	return true;
}

void blob_view_deinit(struct blob_view *b)
{
	view_index_free(&b->view);
	for (uint32_t i = 0; b->columns.chunks && i < b->columns.n_lanes; i++)
		mem_free(b->columns.chunks[i]);
	mem_free(b->columns.chunks);
	mem_free(b->columns.lanes);
	mem_free(b->columns.first_lane);
	trace_free(b->trace);
	*b = (struct blob_view){0};
}
