/* SPDX-License-Identifier: Apache-2.0 */
/* chunks.c: sorts the chunks of one trace and joins them to a stream per shader engine. */
#include "import/chunks.h"

#include "base/search.h"
#include "import/capture_cache.h"
#include "import/sqtt/sqtt.h"

ORDER(by_trace, struct sqtt_chunk, UP(run) UP(dispatch) UP(agent))
ORDER(by_place, struct sqtt_chunk, THEN(by_trace) UP(se) UP(index) UP(row))

static size_t trace_end(const struct sqtt_chunk_list *l, size_t from)
{
	size_t end = from;

	while (end < l->n && by_trace(&l->v[from], &l->v[end]) == 0)
		end++;
	return end;
}

uint32_t sqtt_chunks_sort(struct sqtt_chunk_list *l)
{
	uint32_t n = 0;

	SORT(l->v, l->n, by_place);
	for (size_t i = 0; i < l->n; i = trace_end(l, i))
		n++;
	return n;
}

struct sqtt_chunk_list sqtt_chunks_of(const struct sqtt_chunk_list *l, size_t from)
{
	struct sqtt_chunk_list one = *l;

	one.v = l->v ? l->v + from : NULL;
	one.n = trace_end(l, from) - from;
	return one;
}

uint64_t sqtt_chunks_bytes(const struct sqtt_chunk_list *l)
{
	uint64_t sum = 0;

	EACH (const struct sqtt_chunk, c, l->v, l->n)
		sum += c->size > 0 ? (uint64_t)c->size : 0;
	return sum;
}

/* --- checking the rows --- */

static bool bad_chunk(const struct sqtt_chunk_list *l, const struct sqtt_chunk *c, const char *what,
	struct incore_error *e)
{
	return err_file(e, "bad-chunk", l->path, INCORE_NO_OFFSET, "row %lld of its chunks: %s",
		(long long)c->row, what);
}

static bool check_rows(const struct sqtt_chunk_list *l, struct incore_error *e)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct sqtt_chunk *c = &l->v[i];

		if (c->wrong)
			return bad_chunk(l, c, c->wrong, e);
		if (c->se < 0 || c->se >= SQTT_MAX_SE)
			return bad_chunk(l, c, "not the number of a shader engine", e);
		if (c->index < 0)
			return bad_chunk(l, c, "not the number of a chunk", e);
		if (i && c->se == c[-1].se && c->index == c[-1].index)
			return err_file(e, "bad-chunk", l->path, INCORE_NO_OFFSET,
				"rows %lld and %lld are both chunk %lld of shader engine %lld",
				(long long)c[-1].row, (long long)c->row, (long long)c->index,
				(long long)c->se);
	}
	return true;
}

ORDER_AT(by_path, struct sqtt_chunk, A_TO_Z(path) UP(row))

/* A file is one chunk: nothing would state which part of it another row refers to. */
static bool check_files(struct arena *a, const struct sqtt_chunk_list *l, struct incore_error *e)
{
	const struct sqtt_chunk **v = arena_zalloc(a, l->n + 1, sizeof(*v));
	size_t n = 0;

	if (!v)
		return err_nomem(e);
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].path)
			v[n++] = &l->v[i];
	SORT(v, n, by_path);
	for (size_t i = 1; i < n; i++)
		if (strcmp(v[i]->path, v[i - 1]->path) == 0)
			return err_file(e, "bad-chunk", l->path, INCORE_NO_OFFSET,
				"rows %lld and %lld of its chunks name the same file %s",
				(long long)v[i - 1]->row, (long long)v[i]->row, v[i]->path);
	return true;
}

/* --- bytes --- */

struct joining {
	struct sqtt_build *b;
	const struct sqtt_chunk_list *l;
	struct incore_error *e;
};

static const char *file_of(struct joining *j, const struct sqtt_chunk *c)
{
	const char *path = arena_printf(&j->b->scratch, "%.*s%s",
		(int)(path_base(j->l->path) - j->l->path), j->l->path, c->path);

	return path ? path : (err_nomem(j->e), NULL);
}

/* Finds the size of a chunk's bytes, -1 if missing. False: it contradicts the row. */
static bool chunk_size(struct joining *j, const struct sqtt_chunk *c, int64_t *size)
{
	const char *path;

	*size = c->size;
	if (!c->path)
		return true;
	if (!(path = file_of(j, c)))
		return false;
	*size = file_size_in(import_fence(j->b->options), path);
	if (*size < 0 || c->size == NO_VALUE || c->size == *size)
		return true;
	return err_file(j->e, "bad-chunk", path, (uint64_t)(*size < c->size ? *size : c->size),
		"it has %lld bytes; row %lld of %s states %lld", (long long)*size,
		(long long)c->row, path_base(j->l->path), (long long)c->size);
}

/* Finds how many chunks of a stream are usable in sequence, and their total *bytes. */
static bool chunks_measure(
	struct joining *j, const struct sqtt_chunk *v, size_t n, size_t *usable, uint64_t *bytes)
{
	uint64_t lost = 0;
	int64_t size, next = 0;
	size_t i;

	*bytes = 0;
	for (i = 0; i < n; i++) {
		next = i ? v[i - 1].index + 1 : v[i].index;
		lost = (uint64_t)(v[i].index - next);
		if (lost)
			break;
		if (!chunk_size(j, &v[i], &size))
			return false;
		lost = size < 0;
		if (lost)
			break;
		*bytes += (uint64_t)size;
	}
	*usable = i;
	return !lost ||
	       trace_note(j->b->trace, "chunk-missing", path_base(j->l->path), INCORE_NO_OFFSET,
		       lost,
		       "%llu chunks of shader engine %lld are missing from chunk %lld on; the %zu after them are not decoded, as nothing says where in them a token begins",
		       (unsigned long long)lost, (long long)v->se, (long long)next,
		       n - i - (i < n && v[i].index == next)) ||
	       err_nomem(j->e);
}

static bool chunks_append(
	struct joining *j, const struct sqtt_chunk *c, uint8_t *to, uint64_t left, uint64_t *done)
{
	struct file_data f = {0};
	const char *path;

	if (!c->path) {
		*done = (uint64_t)c->size;
		return j->l->read(j->l->ctx, c, to, j->e);
	}
	if (!(path = file_of(j, c)) || !import_load(j->b->options, &f, path, j->e))
		return false;
	*done = f.size;
	if (f.size <= left && f.size)
		memcpy(to, f.data, f.size);
	file_unload(&f);
	return *done <= left ||
	       err_file(j->e, "bad-chunk", path, left, "it changed while it was read");
}

static bool chunks_join(struct joining *j, const struct sqtt_chunk *v, struct sqtt_stream_file *s)
{
	size_t n = 0;
	uint64_t bytes, done;
	uint8_t *to;

	while (v + n < j->l->v + j->l->n && v[n].se == v->se)
		n++;
	*s = (struct sqtt_stream_file){.se = (uint32_t)v->se};
	if (!chunks_measure(j, v, n, &n, &bytes))
		return false;
	s->size = (int64_t)bytes;
	if (n <= 1 && v->path)
		return (s->path = file_of(j, v)) != NULL;
	s->path = arena_printf(&j->b->scratch, "%s:se%lld", j->l->path, (long long)v->se);
	to = bytes < PTRDIFF_MAX - FILE_PAD ? arena_alloc(&j->b->scratch, (size_t)bytes + FILE_PAD)
					    : NULL;
	if (!s->path || !to)
		return err_nomem(j->e);
	memset(to + bytes, 0, FILE_PAD);
	s->data = to;
	for (size_t i = 0; i < n; i++, to += done, bytes -= done)
		if (!chunks_append(j, &v[i], to, bytes, &done))
			return false;
	s->size -= (int64_t)bytes; /* files that shrank in the meantime */
	return true;
}

static bool find_chunks(struct sqtt_build *b, const char *path, struct incore_error *e)
{
	const struct sqtt_chunk_list *l = b->from;
	struct joining j = {.b = b, .l = l, .e = e};
	struct sqtt_container *c = NULL;
	uint32_t n = 0;

	if (!check_rows(l, e) || !check_files(&b->scratch, l, e) ||
		!sqtt_containers(import_fence(b->options), path, &b->scratch, &c, &n, e))
		return false;
	b->container = *c; /* for the code objects beside the table */
	c = &b->container;
	c->agent = l->v->agent_name != NO_VALUE ? l->v->agent_name : l->v->agent;
	c->dispatch = l->v->dispatch;
	c->n_streams = 0;
	c->n_bytes = 0;
	c->streams = arena_zalloc(&b->scratch, l->n, sizeof(*c->streams));
	if (!c->streams)
		return err_nomem(e);
	for (size_t i = 0; i < l->n; i++) {
		if (i && l->v[i].se == l->v[i - 1].se)
			continue;
		if (!chunks_join(&j, &l->v[i], &c->streams[c->n_streams]))
			return false;
		c->n_bytes += (uint64_t)c->streams[c->n_streams++].size;
	}
	c->first = c->streams->path;
	return true;
}

bool sqtt_chunks_read(const struct sqtt_chunk_list *l, const struct import_options *o,
	struct trace *t, struct incore_error *e)
{
	t->meta.format = import_sqtt.name; /* the format of the chunks */
	return sqtt_read_found(find_chunks, l, l->path, o, t, e);
}
