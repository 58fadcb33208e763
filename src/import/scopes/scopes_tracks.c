/* SPDX-License-Identifier: Apache-2.0 */
/* scopes_tracks.c: reads every event once for code rows, slice counts and values; afterwards tracks
 * are loaded on demand. */
#include "base/search.h"
#include "import/scopes/scopes.h"

static uint8_t class_of(enum scope_kind kind)
{
	static const uint8_t classes[] = {[SCOPE_WORK] = CLASS_USERMARK,
		[SCOPE_WAITING] = CLASS_BARRIER,
		[SCOPE_COPY] = CLASS_VMEM_TO_LDS,
		[SCOPE_MATRIX] = CLASS_MATRIX,
		[SCOPE_STORE] = CLASS_VMEM_STORE,
		[SCOPE_END] = CLASS_OTHER,
		[SCOPE_INSTANT] = CLASS_USERMARK,
		[SCOPE_VALUE] = CLASS_OTHER};

	return classes[kind];
}

struct value_at {
	uint32_t name, sm;
	uint64_t time_cyc;
	uint32_t value;
};
ORDER(by_series, struct value_at, UP(name) UP(sm) UP(time_cyc) UP(value))

struct building {
	struct scope_file *f;
	struct trace *t;
	const struct scope_warp *warp;
	struct scope_rows rows;
	VEC(struct value_at) values;
	uint32_t n_slices; /* of the warp */
	uint32_t n_long;
	bool is_name_bad;
};

static uint32_t add_row(void *ctx, uint32_t outer, const struct scope_event *x)
{
	struct building *b = ctx;
	uint64_t *row;

	if (x->name >= b->f->head.n_names) {
		b->is_name_bad = true;
		return NO_SCOPE;
	}
	row = u64_map_at(&b->rows.index, scope_key(outer, x));
	if (!row || (!*row && b->rows.v.n == SCOPE_MOST_ROWS))
		return NO_SCOPE;
	if (!*row) {
		if (!VEC_PUSH(&b->rows.v, (struct scope_row){outer, x->name, x->kind}))
			return NO_SCOPE;
		*row = b->rows.v.n;
	}
	return (uint32_t)*row - 1;
}

static bool count_piece(void *ctx, uint32_t row, uint64_t from, uint64_t to)
{
	struct building *b = ctx;

	(void)row;
	b->n_slices++;
	b->n_long += to - from > UINT32_MAX;
	return true;
}

static bool add_value(void *ctx, const struct scope_event *x)
{
	struct building *b = ctx;

	if (x->name >= b->f->head.n_names) {
		b->is_name_bad = true;
		return false;
	}
	return VEC_PUSH(
		&b->values, (struct value_at){x->name, b->warp->sm,
				    x->clock + (uint64_t)b->f->offset_cyc[b->warp->sm], x->value});
}

static bool walk_all(struct building *b, struct scope_walk *w, struct incore_error *e)
{
	for (uint32_t i = 0; i < b->t->n_tracks; i++) {
		b->warp = &b->f->warps[i];
		b->n_slices = 0;
		if (!scopes_walk_warp(b->f, b->warp, w)) {
			if (b->is_name_bad)
				return err_file(e, "bad-value", b->f->path, b->warp->at,
					"an event of this warp has a name that the first line does not list");
			if (b->rows.v.n == SCOPE_MOST_ROWS)
				return err_file(e, "too-large", b->f->path, b->warp->at,
					"more than %u different nestings of scopes",
					SCOPE_MOST_ROWS);
			return err_nomem(e);
		}
		b->f->warps[i].n_slices = b->n_slices;
	}
	return true;
}

/* The path "outer/inner" of a row, made on first use. */
static const char *path_of(const struct building *b, uint32_t row, const char *const *paths)
{
	const struct scope_row *r = &b->rows.v.v[row];
	const char *name = b->f->head.names[r->name];

	return r->outer == NO_SCOPE ? name
				    : arena_printf(&b->t->arena, "%s/%s", paths[r->outer], name);
}

static bool put_rows(struct building *b)
{
	struct trace *t = b->t;
	size_t n = b->rows.v.n;
	const char **paths = arena_zalloc(&t->arena, n + 1, sizeof(*paths));

	t->code = arena_zalloc(&t->arena, n + 1, sizeof(*t->code));
	t->opcodes = arena_zalloc(&t->arena, n + 1, sizeof(*t->opcodes));
	if (!paths || !t->code || !t->opcodes)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		paths[i] = path_of(b, i, paths); /* outer rows come before inner ones */
		if (!paths[i])
			return false;
		t->opcodes[i] = paths[i];
		t->code[i] = (struct code_row){.text = paths[i],
			.text_len = (uint32_t)strlen(paths[i]),
			.opcode = i,
			.number = (int64_t)i + 1,
			.address = i,
			.inst_class = class_of(b->rows.v.v[i].kind),
			.source = ""};
	}
	t->n_code = t->n_opcodes = (uint32_t)n;
	return true;
}

static bool put_series(struct building *b, size_t from, size_t to)
{
	struct trace *t = b->t;
	struct counter_series *c = &t->counters[t->n_counters];
	uint64_t *time = arena_zalloc(&t->arena, to - from, sizeof(*time));
	uint64_t *value = arena_zalloc(&t->arena, to - from, sizeof(*value));

	if (!time || !value)
		return false;
	for (size_t i = from; i < to; i++) {
		time[i - from] = b->values.v[i].time_cyc;
		value[i - from] = b->values.v[i].value;
	}
	*c = (struct counter_series){.name = b->f->head.names[b->values.v[from].name],
		.cu = b->values.v[from].sm,
		.n = (uint32_t)(to - from),
		.time_cyc = time,
		.value = value,
		.unit = "value",
		.per_unit = 1};
	if (!t->n_counter_names || strcmp(t->counter_names[t->n_counter_names - 1], c->name) != 0)
		t->counter_names[t->n_counter_names++] = c->name;
	t->n_counters++;
	return true;
}

static bool put_values(struct building *b)
{
	struct trace *t = b->t;
	size_t n = b->values.n, n_series = 0;

	SORT(b->values.v, n, by_series);
	for (size_t i = 0; i < n; i++)
		n_series += !i || b->values.v[i].name != b->values.v[i - 1].name ||
			    b->values.v[i].sm != b->values.v[i - 1].sm;
	t->counters = arena_zalloc(&t->arena, n_series + 1, sizeof(*t->counters));
	t->counter_names = arena_zalloc(&t->arena, n_series + 1, sizeof(*t->counter_names));
	if (!t->counters || !t->counter_names)
		return false;
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && b->values.v[k].name == b->values.v[i].name &&
			    b->values.v[k].sm == b->values.v[i].sm;
			k++)
			;
		if (!put_series(b, i, k))
			return false;
	}
	return true;
}

static bool put_tracks(struct building *b)
{
	struct trace *t = b->t;

	t->tracks = arena_zalloc(&t->arena, (size_t)t->n_tracks + 1, sizeof(*t->tracks));
	if (!t->tracks)
		return false;
	for (uint32_t i = 0; i < t->n_tracks; i++) {
		const struct scope_warp *k = &b->f->warps[i];
		uint64_t offset = (uint64_t)b->f->offset_cyc[k->sm];

		t->tracks[i] = (struct track){.coord = {0, k->sm, k->slot % 4, k->slot, k->run},
			.n_slices = k->n_slices,
			.begin_cyc = k->begin_clock + offset,
			.end_cyc = k->end_clock + offset,
			.kernel_id = UINT32_MAX,
			.name = arena_printf(&t->arena, "sm %u slot %u: block %u warp %u", k->sm,
				k->slot, k->block, k->warp),
			.workgroup = k->block};
		if (!t->tracks[i].name)
			return false;
	}
	return true;
}

/* --- content of a track --- */

struct loading {
	const struct scope_file *f;
	const struct trace *t;
	uint64_t offset;
	struct track_data *d;
	uint32_t most;
};

static uint32_t find_row(void *ctx, uint32_t outer, const struct scope_event *x)
{
	const struct loading *l = ctx;
	const uint64_t *row = u64_map_find(&l->f->rows, scope_key(outer, x));

	return row ? (uint32_t)*row - 1 : NO_SCOPE;
}

static bool load_piece(void *ctx, uint32_t row, uint64_t from, uint64_t to)
{
	struct loading *l = ctx;
	struct track_data *d = l->d;
	uint32_t dur = to - from > UINT32_MAX ? UINT32_MAX : (uint32_t)(to - from);
	uint8_t class = l->t->code[row].inst_class;

	if (d->n == l->most)
		return false;
	track_data_put(d, &(struct track_slice){.start = from + l->offset,
				  .dur = dur,
				  .stall = class == CLASS_BARRIER ? dur : 0,
				  .code = row,
				  .inst_class = class});
	return true;
}

static bool load_track(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	const struct scope_file *f = t->loader_ctx;
	const struct scope_warp *k = &f->warps[i];
	struct loading l = {f, t, (uint64_t)f->offset_cyc[k->sm], d, k->n_slices};
	struct scope_walk w = {.piece = load_piece, .row = find_row, .ctx = &l};

	d->stated_slices = k->n_slices;
	if (want & TRACK_NO_SLICES)
		return true;
	if (!track_data_reserve(d, k->n_slices))
		return err_nomem(e);
	return scopes_walk_warp(f, k, &w) ||
	       err_file(e, "changed", f->path, k->at, "the file is not the one that was opened");
}

static void close_file(void *ctx)
{
	struct scope_file *f = ctx;

	u64_map_deinit(&f->rows);
	file_unload(&f->file);
}

static bool note_walk(
	struct trace *t, const struct scope_walk *w, uint32_t n_long, const char *path)
{
	const struct {
		uint64_t n;
		enum note_kind kind;
		const char *code, *text;
	} notes[] = {
		{w->n_cut, NOTE_LOST, "scope-begin-lost",
			"scopes end whose begin was not kept: that part of their time is idle"},
		{w->n_open, NOTE_INFO, "scope-open", "scopes had not ended when their warp did"},
		{w->n_back, NOTE_CONTRADICTORY, "scope-time",
			"events are not in the order of time, or after the end of their warp"},
		{w->n_deep, NOTE_CLAMPED, "scope-depth",
			"scopes lie too deep: their time is of the one that they lie in"},
		{n_long, NOTE_CLAMPED, "scope-long",
			"scopes are longer than 2^32 cycles: the rest of their time is idle"},
	};

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (notes[i].n && !trace_note(t, notes[i].kind, notes[i].code, path,
					  INCORE_NO_OFFSET, notes[i].n, "%s", notes[i].text))
			return false;
	return true;
}

bool scopes_build(struct scope_file *f, struct trace *t, struct incore_error *e)
{
	struct building b = {.f = f, .t = t};
	struct scope_walk w = {.piece = count_piece, .value = add_value, .row = add_row, .ctx = &b};
	bool ok = walk_all(&b, &w, e);

	if (ok && !(put_rows(&b) && put_values(&b) && put_tracks(&b) &&
			  note_walk(t, &w, b.n_long, f->path)))
		ok = err_nomem(e);
	f->rows = b.rows.index;
	VEC_FREE(&b.rows.v);
	VEC_FREE(&b.values);
	t->loader_ctx = f;
	t->loader = (struct track_loader){.load = load_track, .close = close_file};
	return ok;
}
