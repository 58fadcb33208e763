/* SPDX-License-Identifier: Apache-2.0 */
/* blob_read.c: bytes back into a view. Every count is compared with the bytes that are left. */
#include "base/mem.h"
#include "codec/varint.h"
#include "serve/report/blob_internal.h"

struct reading {
	struct bytes_reader r;
	struct blob_view *out;
	struct trace *t;
	bool is_failed; /* of memory */
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

/* A count of things of at least `least` bytes each. */
static uint32_t get_count(struct reading *x, size_t least)
{
	uint64_t n = bytes_varint(&x->r);

	if (x->r.is_failed || n > UINT32_MAX - 1 || n > (uint64_t)(x->r.end - x->r.p) / least) {
		x->r.is_failed = true;
		return 0;
	}
	return (uint32_t)n;
}

static void *get_room(struct reading *x, uint32_t n, size_t size)
{
	void *p = arena_zalloc(&x->t->arena, (size_t)n + 1, size);

	if (!p)
		x->is_failed = true;
	return p;
}

static const char *get_text(struct reading *x)
{
	struct str s = bytes_str(&x->r);
	char *p = arena_strndup(&x->t->arena, s.p ? s.p : "", s.n);

	if (!p)
		x->is_failed = true;
	return p ? p : "";
}

static bool is_good(const struct reading *x)
{
	return !x->is_failed && !x->r.is_failed;
}

static bool get_head(struct reading *x)
{
	const uint8_t *magic = bytes_take(&x->r, BLOB_MAGIC_LEN);
	struct view *v = &x->out->view;
	struct trace_meta *m = &x->t->meta;
	struct str hash;
	uint64_t n;

	if (!magic || memcmp(magic, BLOB_MAGIC, BLOB_MAGIC_LEN) != 0)
		return false;
	hash = bytes_str(&x->r);
	if (x->r.is_failed || hash.n >= sizeof(v->hash))
		return false;
	if (hash.n)
		memcpy(v->hash, hash.p, hash.n);
	v->origin_cyc = bytes_zigzag(&x->r);
	v->has_pipes = bytes_u8(&x->r) != 0;
	m->vendor = (enum vendor)(bytes_u8(&x->r) % (VENDOR_NVIDIA + 1));
	m->evidence = (enum evidence)(bytes_u8(&x->r) % (EVIDENCE_ESTIMATE + 1));
	m->gfx_major = (unsigned)bytes_varint(&x->r);
	m->clock_quantum = (unsigned)bytes_varint(&x->r);
	m->arch = get_text(x);
	n = bytes_varint(&x->r);
	if (n > TRACK_LEVELS)
		return false;
	for (unsigned i = 0; i < n; i++)
		x->t->levels[i] = get_text(x);
	return is_good(x);
}

static bool get_sources(struct reading *x)
{
	struct trace *t = x->t;

	t->n_sources = get_count(x, 3);
	t->sources = get_room(x, t->n_sources, sizeof(*t->sources));
	for (uint32_t i = 0; is_good(x) && i < t->n_sources; i++) {
		struct source_file *s = &t->sources[i];

		s->path = get_text(x);
		s->n_lines = (uint32_t)bytes_varint(&x->r);
		if (bytes_u8(&x->r)) {
			struct str text = bytes_str(&x->r); /* stays where it is */

			s->text = text.p;
			s->text_len = text.n;
		}
	}
	t->n_frames = get_count(x, 2);
	t->frames = get_room(x, t->n_frames, sizeof(*t->frames));
	for (uint32_t i = 0; is_good(x) && i < t->n_frames; i++) {
		uint64_t source = bytes_varint(&x->r);

		t->frames[i].source =
			source && source <= t->n_sources ? (source_idx)(source - 1) : NO_SOURCE;
		t->frames[i].line = (uint32_t)bytes_varint(&x->r);
	}
	return is_good(x);
}

static bool get_code(struct reading *x)
{
	struct trace *t = x->t;
	int64_t number = 0;
	uint64_t address = 0;

	t->n_code = get_count(x, 7);
	t->code = get_room(x, t->n_code, sizeof(*t->code));
	for (uint32_t i = 0; is_good(x) && i < t->n_code; i++) {
		struct code_row *r = &t->code[i];
		uint64_t n, first;

		r->text = get_text(x);
		r->text_len = (uint32_t)strlen(r->text);
		number = (int64_t)((uint64_t)number + (uint64_t)bytes_zigzag(&x->r));
		address += (uint64_t)bytes_zigzag(&x->r);
		r->number = number;
		r->address = address;
		r->is_label = bytes_u8(&x->r) != 0;
		r->inst_class = bytes_u8(&x->r) % CLASS_COUNT;
		r->source = "";
		n = bytes_varint(&x->r);
		first = bytes_varint(&x->r);
		if (n > UINT16_MAX || first > t->n_frames || n > t->n_frames - first)
			return false;
		r->n_frames = (uint16_t)n;
		r->first_frame = (uint32_t)first;
	}
	return is_good(x);
}

/* What pipes are accounted by: the first word of each text. */
static bool name_opcodes(struct reading *x)
{
	struct trace *t = x->t;

	t->opcodes = get_room(x, t->n_code, sizeof(*t->opcodes));
	for (uint32_t i = 0; is_good(x) && i < t->n_code; i++) {
		const char *text = t->code[i].text, *end = text;

		while (*end && *end != ' ')
			end++;
		t->opcodes[i] = arena_strndup(&t->arena, text, (size_t)(end - text));
		x->is_failed |= !t->opcodes[i];
		t->code[i].opcode = i;
	}
	t->n_opcodes = t->n_code;
	return is_good(x);
}

static clock_idx get_clock(struct reading *x)
{
	uint64_t n = bytes_varint(&x->r);

	return n && n <= x->t->n_clocks ? (clock_idx)(n - 1) : NO_CLOCK;
}

static bool get_tracks(struct reading *x)
{
	struct trace *t = x->t;

	t->n_clocks = get_count(x, 3);
	t->clocks = get_room(x, t->n_clocks, sizeof(*t->clocks));
	for (uint32_t i = 0; is_good(x) && i < t->n_clocks; i++) {
		t->clocks[i].id = (uint32_t)bytes_varint(&x->r);
		t->clocks[i].is_aligned = bytes_u8(&x->r) != 0;
		t->clocks[i].offset_cyc = bytes_zigzag(&x->r) % (INT64_MAX / 4);
	}
	t->n_tracks = get_count(x, TRACK_LEVELS + 3);
	t->tracks = get_room(x, t->n_tracks, sizeof(*t->tracks));
	for (uint32_t i = 0; is_good(x) && i < t->n_tracks; i++) {
		struct track *k = &t->tracks[i];
		uint64_t kernel;

		for (unsigned n = 0; n < TRACK_LEVELS; n++)
			k->coord[n] = (uint32_t)bytes_varint(&x->r);
		k->clock = get_clock(x);
		kernel = bytes_varint(&x->r);
		k->kernel_id = kernel && kernel < UINT32_MAX ? (uint32_t)(kernel - 1) : UINT32_MAX;
		k->name = get_text(x);
		k->workgroup = NO_VALUE;
	}
	return is_good(x);
}

static bool get_names(struct reading *x)
{
	struct trace *t = x->t;

	t->n_kernel_names = get_count(x, 2);
	t->kernel_names = get_room(x, t->n_kernel_names, sizeof(*t->kernel_names));
	for (uint32_t i = 0; is_good(x) && i < t->n_kernel_names; i++) {
		t->kernel_names[i].id = (uint32_t)bytes_varint(&x->r);
		t->kernel_names[i].name = get_text(x);
	}
	t->n_markers = get_count(x, 3);
	t->markers = get_room(x, t->n_markers, sizeof(*t->markers));
	for (uint32_t i = 0; is_good(x) && i < t->n_markers; i++) {
		t->markers[i].time_cyc = bytes_varint(&x->r) % (INT64_MAX / 4);
		t->markers[i].value = bytes_varint(&x->r);
		t->markers[i].clock = get_clock(x);
	}
	return is_good(x);
}

static bool get_series(struct reading *x, struct counter_series *s)
{
	uint64_t last = 0, cu, *times, *values;
	const char *unit;

	s->name = get_text(x);
	s->clock = get_clock(x);
	cu = bytes_varint(&x->r);
	s->cu = cu && cu < UINT32_MAX ? (uint32_t)(cu - 1) : UINT32_MAX;
	unit = get_text(x);
	s->unit = *unit ? unit : NULL;
	s->per_unit = (uint32_t)bytes_varint(&x->r);
	s->n = get_count(x, 2);
	s->time_cyc = times = get_room(x, s->n, sizeof(*times));
	s->value = values = get_room(x, s->n, sizeof(*values));
	for (uint32_t k = 0; is_good(x) && k < s->n; k++) {
		last += (uint64_t)bytes_zigzag(&x->r);
		times[k] = last % (INT64_MAX / 4);
		values[k] = bytes_varint(&x->r);
	}
	return is_good(x);
}

static bool get_counters(struct reading *x)
{
	struct trace *t = x->t;

	t->n_counters = get_count(x, 6);
	t->counters = get_room(x, t->n_counters, sizeof(*t->counters));
	for (uint32_t i = 0; is_good(x) && i < t->n_counters; i++)
		if (!get_series(x, &t->counters[i]))
			return false;
	return is_good(x);
}

static bool get_links(struct reading *x)
{
	struct trace *t = x->t;

	t->n_links = get_count(x, 5);
	t->links = get_room(x, t->n_links, sizeof(*t->links));
	for (uint32_t i = 0; is_good(x) && i < t->n_links; i++) {
		struct link *l = &t->links[i];

		l->from_track = (track_idx)bytes_varint(&x->r);
		l->from_slice = (uint32_t)bytes_varint(&x->r);
		l->to_track = (track_idx)bytes_varint(&x->r);
		l->to_slice = (uint32_t)bytes_varint(&x->r);
		l->kind = (enum link_kind)(bytes_u8(&x->r) % (LINK_FLOW + 1));
		if (l->from_track >= t->n_tracks || l->to_track >= t->n_tracks)
			return false;
	}
	return is_good(x);
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
		x->is_failed = true;
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
	uint32_t n = get_count(x, 6);
	bool ok = is_good(x);

	c->n_tracks = x->t->n_tracks;
	for (unsigned i = 0; i < BLOB_STREAMS; i++) {
		struct str bytes = bytes_str(&x->r);

		if (!x->r.is_failed)
			s.r[i] = (struct bytes_reader){.p = (const uint8_t *)bytes.p,
				.end = (const uint8_t *)bytes.p + bytes.n};
	}
	ok = ok && is_good(x) && blob_streams_init(&s.predicted, x->t);
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

	*out = (struct blob_view){0};
	x.r = (struct bytes_reader){.p = bytes, .end = (const uint8_t *)bytes + n};
	x.t = out->trace = trace_new();
	if (!x.t)
		return err_nomem(e);
	if (!get_head(&x) || !get_sources(&x) || !get_code(&x) ||
		(out->view.has_pipes && !name_opcodes(&x)) || !get_tracks(&x) || !get_names(&x) ||
		!get_counters(&x) || !get_links(&x) || !get_columns(&x)) {
		uint64_t at = (uint64_t)(x.r.p - (const uint8_t *)bytes);

		blob_view_deinit(out);
		if (x.is_failed)
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
