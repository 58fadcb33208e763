/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrow.c: the tables of an answer and of a trace as Arrow arrays. Parts: arrays; slices of a
 * trace.
 */
#include <errno.h>

#include "lib/lib.h"

/* --- arrays ----------------------------------------------------------------------------------- */

/*
 * Tables through Arrow's C data interface. An array is a copy: it does not point into an answer, so
 * it may outlive all answers.
 */

/* --- schema --- */

/* A column of an array that is being built. */
struct arrow_column {
	const char *name;
	enum column_type type;
	bool is_nullable;
};

static const char *format_of(enum column_type t)
{
	switch (t) {
	case COLUMN_U64:
		return "L";
	case COLUMN_U32:
		return "I";
	case COLUMN_U16:
		return "S";
	case COLUMN_U8:
		return "C";
	case COLUMN_I64:
		return "l";
	case COLUMN_F64:
		return "g";
	case COLUMN_BOOL:
		return "b";
	default:
		return "u";
	}
}

static size_t width_of(enum column_type t)
{
	switch (t) {
	case COLUMN_U64:
	case COLUMN_I64:
	case COLUMN_F64:
		return 8;
	case COLUMN_U32:
		return 4;
	case COLUMN_U16:
		return 2;
	default:
		return 1;
	}
}

static bool arrow_is_text(enum column_type t)
{
	return t == COLUMN_TEXT || t == COLUMN_STR;
}

static void release_schema(struct ArrowSchema *s)
{
	for (int64_t i = 0; i < s->n_children; i++) {
		if (s->children[i] && s->children[i]->release)
			s->children[i]->release(s->children[i]);
		mem_free(s->children[i]);
	}
	mem_free(s->children);
	mem_free((void *)(uintptr_t)s->name);
	s->release = NULL;
}

static bool make_schema(
	struct ArrowSchema *out, const char *format, const char *name, bool is_nullable)
{
	*out = (struct ArrowSchema){.format = format,
		.name = mem_strndup(name, strlen(name)),
		.flags = is_nullable ? ARROW_FLAG_NULLABLE : 0,
		.release = release_schema};
	return out->name != NULL;
}

static bool arrow_schema(
	const struct arrow_column *v, size_t n, struct ArrowSchema *out, struct incore_error *e)
{
	struct ArrowSchema s;
	bool ok = make_schema(&s, "+s", "", false);

	s.children = mem_zalloc(n ? n : 1, sizeof(struct ArrowSchema *));
	for (size_t i = 0; ok && s.children && i < n; i++) {
		s.children[i] = mem_zalloc(1, sizeof(struct ArrowSchema));
		ok = s.children[i] &&
		     make_schema(s.children[i], format_of(v[i].type), v[i].name, v[i].is_nullable);
		s.n_children += s.children[i] != NULL;
	}
	if (ok && s.children) {
		*out = s;
		return true;
	}
	release_schema(&s);
	return err_nomem(e);
}

/* --- arrays --- */

static void release_array(struct ArrowArray *x)
{
	for (int64_t i = 0; i < x->n_children; i++) {
		if (x->children[i] && x->children[i]->release)
			x->children[i]->release(x->children[i]);
		mem_free(x->children[i]);
	}
	mem_free(x->children);
	for (int64_t i = 0; x->buffers && i < x->n_buffers; i++)
		mem_free((void *)(uintptr_t)x->buffers[i]);
	mem_free(x->buffers);
	x->release = NULL;
}

/* Buffers: validity, values; for texts validity, offsets, bytes. */
static bool make_array(struct ArrowArray *x, enum column_type type, size_t length)
{
	size_t bits = (length + 7) / 8 + 1;

	*x = (struct ArrowArray){.length = (int64_t)length,
		.n_buffers = arrow_is_text(type) ? 3 : 2,
		.release = release_array};
	x->buffers = mem_zalloc(3, sizeof(void *));
	if (!x->buffers)
		return false;
	x->buffers[0] = mem_zalloc(bits, 1);
	if (arrow_is_text(type))
		x->buffers[1] = mem_zalloc(length + 1, sizeof(int32_t));
	else
		x->buffers[1] = type == COLUMN_BOOL ? mem_zalloc(bits, 1)
						    : mem_zalloc(length + 1, width_of(type));
	if (!x->buffers[0] || !x->buffers[1])
		return false;
	memset((void *)(uintptr_t)x->buffers[0], 0xff, bits);
	return true;
}

/* Makes a struct array with n children of `length` rows; validity bitmaps and values are zeroed,
 * texts are filled with arrow_add_text(). Freed by its release(). */
static bool arrow_array(const struct arrow_column *v, size_t n, size_t length,
	struct ArrowArray *out, struct incore_error *e)
{
	struct ArrowArray x = {.length = (int64_t)length, .n_buffers = 1, .release = release_array};
	bool ok;

	x.buffers = mem_zalloc(1, sizeof(void *)); /* no row of the struct is null */
	x.children = mem_zalloc(n ? n : 1, sizeof(struct ArrowArray *));
	ok = x.buffers && x.children;
	for (size_t i = 0; ok && i < n; i++) {
		x.children[i] = mem_zalloc(1, sizeof(struct ArrowArray));
		x.n_children += x.children[i] != NULL;
		ok = x.children[i] && make_array(x.children[i], v[i].type, length);
	}
	if (ok) {
		*out = x;
		return true;
	}
	release_array(&x);
	return err_nomem(e);
}

/* Makes a struct array with n children of `length` rows; validity bitmaps and values are zeroed,
 * texts are filled with arrow_add_text(). Freed by its release(). */
static void arrow_set_null(struct ArrowArray *child, size_t row)
{
	uint8_t *bits = (uint8_t *)(uintptr_t)child->buffers[0];

	bits[row / 8] = (uint8_t)(bits[row / 8] & ~(1u << row % 8));
	child->null_count++;
}

/* Address to write the value of a row to. */
static void *arrow_slot(struct ArrowArray *child, enum column_type type, size_t row)
{
	return (uint8_t *)(uintptr_t)child->buffers[1] + row * width_of(type);
}

/* Address to write the value of a row to. */
static void arrow_set_bool(struct ArrowArray *child, size_t row, bool value)
{
	uint8_t *bits = (uint8_t *)(uintptr_t)child->buffers[1];

	if (value)
		bits[row / 8] = (uint8_t)(bits[row / 8] | 1u << row % 8);
}

static void put_valid(struct strbuf *b, struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;

	for (size_t i = 0; i < s.n;) {
		size_t n = utf8_length(p + i, s.n - i);

		if (n)
			sb_add(b, s.p + i, n);
		else
			sb_puts(b, "\xef\xbf\xbd");
		i += n ? n : 1;
	}
}

/* Sets the text of a row; rows must come in order. Invalid UTF-8 is replaced. */
static bool arrow_add_text(
	struct ArrowArray *child, size_t row, struct str s, struct incore_error *e)
{
	int32_t *offsets = (int32_t *)(uintptr_t)child->buffers[1];
	/* the bytes grow in a strbuf; its capacity is stored in the array while it is filled */
	struct strbuf b = {.p = (char *)(uintptr_t)child->buffers[2],
		.n = (size_t)offsets[row],
		.cap = (size_t)(uintptr_t)child->private_data};

	put_valid(&b, s);
	if (!b.p)
		sb_reserve(&b, 1);
	child->buffers[2] = b.p;
	child->private_data = (void *)(uintptr_t)b.cap;
	if (b.failed || !b.p)
		return err_nomem(e);
	if (b.n > INT32_MAX)
		return err_set(
			e, INCORE_FAILED, "too-large", "more than 2 GiB of text in a column");
	offsets[row + 1] = (int32_t)b.n;
	return true;
}

/* --- tables --- */

static bool arrow_put_value(struct ArrowArray *child, const struct column *c, const void *v,
	size_t row, struct incore_error *e)
{
	bool is_null = column_is_null(c, v);

	if (is_null)
		arrow_set_null(child, row);
	if (column_is_text(c)) {
		struct str s = {"", 0};

		if (!is_null)
			s = column_text(c, v);
		return arrow_add_text(child, row, s, e);
	}
	if (is_null)
		return true;
	if (c->type == COLUMN_BOOL)
		arrow_set_bool(child, row, *(const bool *)v);
	else
		memcpy(arrow_slot(child, c->type, row), v, width_of(c->type));
	return true;
}

static bool fill_table(const struct flat_table *t, struct ArrowArray *out, struct incore_error *e)
{
	size_t first = t->parent ? 1 : 0;

	for (size_t r = 0; t->parent && r < t->n_rows; r++)
		memcpy(arrow_slot(out->children[0], COLUMN_U32, r), &t->parent[r],
			sizeof(uint32_t));
	for (size_t k = 0; k < t->columns.n; k++)
		for (size_t r = 0; r < t->n_rows; r++)
			if (!arrow_put_value(out->children[k + first], t->columns.v[k].column,
				    flat_value(t, r, &t->columns.v[k]), r, e))
				return false;
	return true;
}

bool incore_table_arrow(const struct incore_answer *a, size_t table, struct ArrowSchema *schema,
	struct ArrowArray *array, struct incore_error *e)
{
	const struct flat_table *t = table < a->tables.v.n ? a->tables.v.v[table] : NULL;
	struct arrow_column *v;
	size_t n;
	bool ok;

	if (!t)
		return err_set(
			e, INCORE_USAGE, "no-such-table", "the answer has no table %zu", table);
	n = t->columns.n + (t->parent ? 1 : 0);
	v = mem_zalloc(n ? n : 1, sizeof(*v));
	if (!v)
		return err_nomem(e);
	if (t->parent)
		v[0] = (struct arrow_column){"parent", COLUMN_U32, false};
	for (size_t i = 0; i < t->columns.n; i++)
		v[i + (t->parent ? 1 : 0)] = (struct arrow_column){t->columns.v[i].name,
			column_is_text(t->columns.v[i].column) ? COLUMN_TEXT
							       : t->columns.v[i].column->type,
			true};
	ok = arrow_schema(v, n, schema, e);
	if (ok && !arrow_array(v, n, t->n_rows, array, e)) {
		schema->release(schema);
		ok = false;
	} else if (ok && !fill_table(t, array, e)) {
		schema->release(schema);
		array->release(array);
		ok = false;
	}
	mem_free(v);
	return ok;
}

/* --- slices of a trace ------------------------------------------------------------------------ */

/*
 * Every slice of a capture as a stream of Arrow batches, one track each.
 */

static const struct arrow_column columns[] = {
	{"track", COLUMN_U32, false},
	{"start", COLUMN_U64, false},
	{"duration", COLUMN_U32, false},
	{"stall", COLUMN_U32, false},
	{"row", COLUMN_I64, true},
	{"class", COLUMN_TEXT, false},
};
#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

struct slices {
	struct incore *x;
	struct answer about; /* keeps the capture open */
	struct trace *trace;
	struct selection selection;
	struct track_data data;
	track_idx next;
	struct incore_error error;
	struct strbuf message;
};

/* A question that only parses the options which select tracks; it has no answer of its own. */
static const struct record *const no_records[] = {NULL, NULL};
static const struct question tracks_question = {.name = "slices",
	.args = "PATH",
	.groups = OPTIONS_SELECT | OPTIONS_CAPTURE,
	.records = no_records};

static int fail_stream(struct slices *s)
{
	sb_reset(&s->message);
	err_format(&s->error, &s->message);
	return s->error.status == INCORE_FAILED ? EIO : EINVAL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	struct slices *s = stream->private_data;

	return arrow_schema(columns, N_COLUMNS, out, &s->error) ? 0 : fail_stream(s);
}

/* Number of slices that start inside the window of the track, and the index of the first. */
static size_t in_window(const struct slices *s, const struct track *k, uint32_t *first)
{
	const struct track_data *d = &s->data;
	uint64_t from, to;
	uint32_t end = d->n;

	selection_window(&s->selection, s->trace, k, &from, &to);
	*first = 0;
	while (*first < d->n && d->start_cyc[*first] < from)
		++*first;
	while (end > *first && d->start_cyc[end - 1] >= to)
		end--;
	return end - *first;
}

static bool fill_batch(struct slices *s, track_idx track, uint32_t first, size_t n,
	struct ArrowArray *out, struct incore_error *e)
{
	const struct track_data *d = &s->data;

	for (size_t i = 0; i < n; i++) {
		uint32_t at = first + (uint32_t)i;
		code_idx code = d->code[at];

		memcpy(arrow_slot(out->children[0], COLUMN_U32, i), &track, sizeof(track));
		memcpy(arrow_slot(out->children[1], COLUMN_U64, i), &d->start_cyc[at], 8);
		memcpy(arrow_slot(out->children[2], COLUMN_U32, i), &d->dur_cyc[at], 4);
		memcpy(arrow_slot(out->children[3], COLUMN_U32, i), &d->stall_cyc[at], 4);
		if (code < s->trace->n_code)
			memcpy(arrow_slot(out->children[4], COLUMN_I64, i),
				&s->trace->code[code].number, 8);
		else
			arrow_set_null(out->children[4], i);
		if (!arrow_add_text(out->children[5], i,
			    str_of(class_name((enum inst_class)d->inst_class[at])), e))
			return false;
	}
	return true;
}

static bool next_batch(struct slices *s, struct ArrowArray *out, struct incore_error *e)
{
	const struct trace *t = s->trace;
	uint32_t first;
	size_t n;

	for (; s->next < t->n_tracks; s->next++)
		if (selection_has(&s->selection, t, &t->tracks[s->next]))
			break;
	if (s->next == t->n_tracks) {
		*out = (struct ArrowArray){0}; /* an array that is already released marks the end */
		return true;
	}
	if (progress_is_cancelled(s->x->progress))
		return err_set(e, INCORE_FAILED, "cancelled", "cancelled");
	if (!trace_load_track(t, s->next, 0, &s->data, e))
		return false;
	n = in_window(s, &t->tracks[s->next], &first);
	if (!arrow_array(columns, N_COLUMNS, n, out, e))
		return false;
	if (!fill_batch(s, s->next, first, n, out, e)) {
		out->release(out);
		return false;
	}
	s->next++;
	return true;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct slices *s = stream->private_data;

	return next_batch(s, out, &s->error) ? 0 : fail_stream(s);
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	struct slices *s = stream->private_data;

	return s->message.n ? s->message.p : NULL;
}

static void free_slices(struct slices *s)
{
	track_data_deinit(&s->data);
	selection_deinit(&s->selection);
	answer_deinit(&s->about);
	incore_error_clear(&s->error);
	sb_free(&s->message);
	mem_free(s);
}

static void release_stream(struct ArrowArrayStream *stream)
{
	free_slices(stream->private_data);
	stream->release = NULL;
}

static bool open_slices(
	struct slices *s, const char *path, const char *options, struct incore_error *e)
{
	const char *paths[] = {path};
	struct request r;
	struct arena a;
	bool ok;

	if (!request_init(&r, &tracks_question, e))
		return false;
	arena_init(&a);
	r.paths = paths;
	r.n_paths = 1;
	r.captures = &s->x->captures;
	r.pool = s->x->pool;
	r.progress = s->x->progress;
	ok = request_set_json(&r, options, &a, e) && lib_fence(s->x, &r, e) &&
	     answer_open(&s->about, &r, path, r.kernel ? IMPORT_OCCUPANCY : 0, &s->trace, e) &&
	     request_selection(&r, s->trace, &s->selection, e);
	arena_deinit(&a);
	request_deinit(&r);
	return ok;
}

bool incore_slices(struct incore *x, const char *path, const char *options,
	struct ArrowArrayStream *out, struct incore_error *e)
{
	struct slices *s = mem_zalloc(1, sizeof(*s));
	bool ok;

	if (!s)
		return err_nomem(e);
	s->x = x;
	arena_init(&s->about.arena);
	pthread_mutex_lock(&x->lock);
	progress_restart(x->progress);
	ok = open_slices(s, path, options, e);
	pthread_mutex_unlock(&x->lock);
	if (!ok) {
		free_slices(s);
		return false;
	}
	*out = (struct ArrowArrayStream){.get_schema = get_schema,
		.get_next = get_next,
		.get_last_error = get_last_error,
		.release = release_stream,
		.private_data = s};
	return true;
}
