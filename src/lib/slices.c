/* SPDX-License-Identifier: Apache-2.0 */
/* slices.c: every slice of a capture as a stream of Arrow batches, one track each. */
#include <errno.h>

#include "lib/lib.h"

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
