/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.c: adds lanes, code rows and slices in the order of the files.
 *
 * Parts: lanes, code rows and slices; a quick look.
 */
#include <math.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/mem.h"
#include "import/ascend/ascend.h"
#include "import/capture_cache.h"

/* --- lanes, code rows and slices -------------------------------------------------------------- */

bool asc_init(struct asc_build *b, struct trace *t, const struct import_options *o,
	struct incore_error *e)
{
	*b = (struct asc_build){
		.trace = t, .options = o, .last_lane = NO_TRACK, .min_us = INFINITY};
	intern_init(&b->opcodes);
	intern_init(&b->sources);
	t->meta.vendor = VENDOR_ASCEND;
	t->meta.evidence = EVIDENCE_VENDOR_SIMULATOR;
	t->levels[0] = "core";
	t->levels[1] = "unit";
	t->levels[2] = "pipe";
	if (o->want & IMPORT_TEXT)
		t->text = mem_zalloc(1, sizeof(*t->text));
	return !(o->want & IMPORT_TEXT) || t->text || err_nomem(e);
}

void asc_deinit(struct asc_build *b)
{
	for (size_t i = 0; i < b->lanes.n; i++)
		VEC_FREE(&b->lanes.v[i].recs);
	for (size_t i = 0; i < b->series.n; i++) {
		VEC_FREE(&b->series.v[i].ts);
		VEC_FREE(&b->series.v[i].value);
	}
	VEC_FREE(&b->lanes);
	VEC_FREE(&b->code);
	VEC_FREE(&b->rows);
	VEC_FREE(&b->frames);
	VEC_FREE(&b->extras);
	VEC_FREE(&b->open);
	VEC_FREE(&b->again);
	VEC_FREE(&b->flows);
	VEC_FREE(&b->names);
	VEC_FREE(&b->series);
	VEC_FREE(&b->stated);
	VEC_FREE(&b->csv);
	VEC_FREE(&b->tables);
	VEC_FREE(&b->details);
	VEC_FREE(&b->units);
	VEC_FREE(&b->long_us);
	VEC_FREE(&b->moved);
	VEC_FREE(&b->texts);
	VEC_FREE(&b->head_extras);
	u64_map_deinit(&b->lane_at);
	u64_map_deinit(&b->code_at);
	u64_map_deinit(&b->head_at);
	u64_map_deinit(&b->open_at);
	u64_map_deinit(&b->name_at);
	VEC_FREE(&b->transfers);
	u64_map_deinit(&b->transfer_at);
	u64_map_deinit(&b->transfer_end);
	u64_map_deinit(&b->cell_at);
	intern_deinit(&b->opcodes);
	intern_deinit(&b->sources);
	sb_free(&b->scratch);
	trace_free(b->own);
}

bool asc_note(struct asc_build *b, const char *code, uint64_t offset, const char *fmt, ...)
{
	struct strbuf text = {0};
	va_list ap;
	bool ok;

	va_start(ap, fmt);
	sb_vprintf(&text, fmt, ap);
	va_end(ap);
	ok = !text.failed &&
	     trace_note(b->trace, code, b->path, offset, 1, "%s", text.p ? text.p : "");
	sb_free(&text);
	return ok;
}

void asc_error_at(struct incore_error *e, uint64_t base)
{
	if (!e || base == 0 || e->offset == INCORE_NO_OFFSET)
		return;
	e->offset += base;
	e->line = e->column = 0; /* they refer to the block, which a user cannot view */
}

/* --- lanes --- */

static uint64_t hash_pair(struct str a, struct str c, uint64_t seed)
{
	return hash_bytes(c.p, c.n, hash_bytes(a.p, a.n, seed));
}

static struct str ascend_build_keep(struct asc_build *b, struct str s)
{
	char *p = arena_strndup(&b->trace->arena, s.n ? s.p : "", s.n);

	return (struct str){p, p ? s.n : 0};
}

uint32_t asc_lane(struct asc_build *b, struct str pid, struct str tid)
{
	struct asc_lane lane = {.unit = b->unit};
	uint64_t *at;

	if (b->last_lane != NO_TRACK && str_eq(pid, b->last_pid) && str_eq(tid, b->last_tid))
		return b->last_lane;
	at = u64_map_at(&b->lane_at, hash_pair(pid, tid, b->unit ? (uintptr_t)b->unit : 0));
	if (!at)
		return NO_TRACK;
	if (*at == 0) {
		lane.pid = ascend_build_keep(b, pid);
		lane.tid = ascend_build_keep(b, tid);
		if (!lane.pid.p || !lane.tid.p || b->lanes.n >= NO_TRACK ||
			!VEC_PUSH(&b->lanes, lane))
			return NO_TRACK;
		*at = b->lanes.n;
	}
	b->last_lane = (uint32_t)(*at - 1);
	b->last_pid = b->lanes.v[b->last_lane].pid;
	b->last_tid = b->lanes.v[b->last_lane].tid;
	return b->last_lane;
}

uint64_t asc_name_key(const struct asc_build *b, struct str pid, struct str tid)
{
	return hash_pair(pid, tid, (b->unit ? (uintptr_t)b->unit : 0) + (tid.p ? 1 : 2));
}

/* --- code --- */

/* Removes the values after '=' and ":0x", which change with each execution: "XD:X1=0x10," ->
 * "XD:X1,". */
static void ascend_build_put_operands(struct strbuf *out, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool is_value = p[i] == '=' ||
				(p[i] == ':' && i + 2 < n && p[i + 1] == '0' && p[i + 2] == 'x');

		if (!is_value) {
			sb_putc(out, p[i]);
			continue;
		}
		/* The next key may begin after the hex number. */
		i++;
		if (i + 1 < n && p[i] == '0' && p[i + 1] == 'x')
			i += 2;
		while (i < n && ((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f')))
			i++;
		i--;
	}
}

bool asc_add_frames(struct asc_build *b, struct code_row *row, struct str code)
{
	struct str line;
	size_t start;

	row->source = "";
	row->first_frame = (uint32_t)b->frames.n;
	if (code.n == 0)
		return true;
	sb_reset(&b->scratch);
	if (!trace_event_text(&b->scratch, code))
		return false;
	row->source = arena_strndup(&b->trace->arena, b->scratch.p, b->scratch.n);
	if (!row->source)
		return false;
	for (start = 0; start < b->scratch.n && row->n_frames < UINT16_MAX;) {
		size_t end = start;
		ptrdiff_t colon;
		uint64_t number;

		while (end < b->scratch.n && b->scratch.p[end] != '\n')
			end++;
		line = str_trim((struct str){b->scratch.p + start, end - start});
		start = end + 1;
		colon = str_rfind_char(line, ':');
		if (colon > 0 && str_to_u64(str_sub(line, (size_t)colon + 1, line.n), &number) &&
			number <= UINT32_MAX) {
			uint32_t s = intern_add(&b->sources, str_sub(line, 0, (size_t)colon));

			if (s == INTERN_NONE ||
				!VEC_PUSH(&b->frames, (struct frame){s, (uint32_t)number}))
				return false;
			row->n_frames++;
		}
	}
	return true;
}

/* "Mark 0x1" is a Mark. */
static struct str ascend_build_first_word(const struct strbuf *s)
{
	size_t n = 0;

	while (n < s->n && s->p[n] != ' ')
		n++;
	return (struct str){s->p ? s->p : "", n};
}

static bool ascend_build_set_text(
	struct asc_build *b, struct code_row *row, const struct asc_op *op, enum ascend_sync sync)
{
	struct strbuf detail = {0};
	bool ok = trace_event_text(&detail, op->detail);

	sb_reset(&b->scratch);
	trace_event_text(&b->scratch, op->name);
	row->opcode = intern_add(&b->opcodes, ascend_build_first_word(&b->scratch));
	if (detail.n) {
		sb_putc(&b->scratch, ' ');
		if (sync != SYNC_NONE)
			sb_add(&b->scratch, detail.p, detail.n);
		else
			ascend_build_put_operands(&b->scratch, detail.p, detail.n);
	}
	sb_free(&detail);
	if (!ok || b->scratch.failed || row->opcode == INTERN_NONE || b->scratch.n > UINT32_MAX)
		return false;
	row->text = arena_strndup(&b->trace->arena, b->scratch.p ? b->scratch.p : "", b->scratch.n);
	row->text_len = (uint32_t)b->scratch.n;
	return row->text != NULL;
}

uint32_t asc_code(struct asc_build *b, const struct asc_op *op)
{
	enum ascend_sync sync = ascend_sync_of(op->name);
	uint64_t key = hash_bytes(op->name.p, op->name.n,
		hash_mix64(op->pc) ^ (uint64_t)op->kind << 1 ^ op->is_kind_known);
	struct code_row row = {.address = op->pc, .code_object = op->kind};
	uint64_t *at;

	if (sync != SYNC_NONE)
		key = hash_bytes(op->detail.p, op->detail.n, key);
	if (op->own)
		key = hash_mix64(key ^ op->own);
	at = u64_map_at(&b->code_at, key);
	if (!at)
		return NO_CODE;
	if (*at)
		return (uint32_t)(*at - 1);
	row.number = (int64_t)b->code.n;
	if (b->code.n >= NO_CODE || !ascend_build_set_text(b, &row, op, sync) ||
		!asc_add_frames(b, &row, op->code) || !VEC_PUSH(&b->code, row) ||
		!VEC_PUSH(&b->rows, (struct asc_row){.sync = (uint8_t)sync,
					    .is_kind_known = op->is_kind_known,
					    .own = op->own}))
		return NO_CODE;
	*at = b->code.n;
	return (uint32_t)(*at - 1);
}

/* --- slices --- */

struct track_slice *asc_add(struct asc_build *b, uint32_t lane, uint32_t code)
{
	struct asc_lane *l = &b->lanes.v[lane];

	if (l->recs.n >= UINT32_MAX || !VEC_PUSH(&l->recs, (struct track_slice){.code = code}))
		return NULL;
	b->n_slices++;
	return &l->recs.v[l->recs.n - 1];
}

struct asc_extra *asc_extra_of(struct asc_build *b, struct track_slice *r, uint32_t lane)
{
	if (!(r->flags & REC_EXTRA)) {
		struct asc_extra x = {.lane = lane, .code = r->code, .event = r->stall};

		if (b->extras.n >= UINT32_MAX || !VEC_PUSH(&b->extras, x))
			return NULL;
		r->stall = (uint32_t)(b->extras.n - 1);
		r->flags |= REC_EXTRA;
	}
	return &b->extras.v[r->stall];
}

/* Longer lengths are not exact to a fraction of a cycle in a float. */
#define LONG_US 512.0

bool asc_set_us(struct asc_build *b, struct track_slice *r, double ts, double dur)
{
	float f = (float)dur;
	struct asc_row *row = &b->rows.v[r->code];

	memcpy(&r->start, &ts, sizeof(ts));
	if (dur > LONG_US && (double)f != dur) {
		if (b->long_us.n >= UINT32_MAX || !VEC_PUSH(&b->long_us, dur))
			return false;
		r->dur = (uint32_t)(b->long_us.n - 1);
		r->flags |= REC_LONG;
	} else {
		memcpy(&r->dur, &f, sizeof(f));
	}
	row->n++;
	row->us += dur;
	if (ts < b->min_us)
		b->min_us = ts;
	return true;
}

bool asc_set_bytes(struct asc_build *b, struct track_slice *r, uint64_t bytes)
{
	if (b->trace->text || !bytes)
		return true;
	b->n_moved++;
	if (r->flags & REC_EXTRA) {
		b->extras.v[r->stall].bytes = bytes;
		return true;
	}
	if (b->moved.n >= UINT32_MAX || !VEC_PUSH(&b->moved, bytes))
		return false;
	r->stall = (uint32_t)(b->moved.n - 1);
	r->flags |= REC_BYTES;
	return true;
}

uint64_t asc_bytes_of(const struct asc_build *b, const struct track_slice *r)
{
	if (r->flags & REC_EXTRA)
		return b->extras.v[r->stall].bytes;
	return r->flags & REC_BYTES ? b->moved.v[r->stall] : 0;
}

/* Cube sync id s belongs to vector core 0 (s < 16) or 1, there as s mod 16. */
static uint64_t cross_key(const struct ascend_unit *u, enum ascend_sync sync, struct str id)
{
	uint64_t s = 0;
	uint32_t vec;
	bool is_from_cube = (u->kind == ASCEND_CUBE) == (sync == SYNC_SET_CROSS);

	str_to_u64(id, &s);
	vec = u->kind == ASCEND_VEC ? u->unit : s < 16 ? 1 : 2;
	return hash_mix64((uint64_t)u->core << 32 | vec << 8 | (s & 15) << 1 | is_from_cube) | 1;
}

uint64_t asc_fifo_key(struct asc_build *b, uint32_t lane, enum ascend_sync sync, struct str detail)
{
	const struct asc_lane *l = &b->lanes.v[lane];
	struct str pid = l->pid;
	struct ascend_unit u;

	if (l->unit && !ascend_unit_of(pid, &u))
		pid = str_of(l->unit);
	if (!ascend_is_set(sync) && !ascend_is_wait(sync))
		return 0;
	if ((sync == SYNC_SET_CROSS || sync == SYNC_WAIT_CROSS) && ascend_unit_of(pid, &u) &&
		u.kind != ASCEND_PLAIN)
		return cross_key(&u, sync, ascend_flag_of(detail).id);
	return hash_pair(pid, detail, 7) | 1;
}

/* --- tables --- */

void asc_table_open(struct asc_build *b, struct asc_table *k, const char *name, const char *origin,
	const char *cols)
{
	struct str rest = str_of(cols), part;

	*k = (struct asc_table){.t = {.name = arena_strdup(&b->trace->arena, name),
					.origin = arena_strdup(&b->trace->arena, origin)}};
	k->is_failed = !k->t.name || !k->t.origin;
	while (str_cut(&rest, "|", &part))
		asc_table_column(b, k, part);
}

void asc_table_column(struct asc_build *b, struct asc_table *k, struct str name)
{
	const char *s = arena_strndup(&b->trace->arena, name.n ? name.p : "", name.n);

	if (!s || !VEC_PUSH(&k->cols, s))
		k->is_failed = true;
}

/* Most cells are small numbers that occur often: they share one copy. */
static const char *ascend_build_cell_text(struct asc_build *b, struct str cell)
{
	uint64_t *at = cell.n <= 24 ? u64_map_at(&b->cell_at, hash_bytes(cell.p, cell.n, 1)) : NULL;
	const char *s;

	if (at && *at && strlen((const char *)(uintptr_t)*at) == cell.n &&
		memcmp((const char *)(uintptr_t)*at, cell.p, cell.n) == 0)
		return (const char *)(uintptr_t)*at;
	s = arena_strndup(&b->trace->arena, cell.p, cell.n);
	if (at && s)
		*at = (uintptr_t)s;
	return s;
}

void asc_put(struct asc_build *b, struct asc_table *k, struct str cell)
{
	const char *s = NULL;

	if (k->cells.n >= UINT32_MAX) {
		k->is_failed = true;
		return;
	}
	if (cell.p) {
		s = ascend_build_cell_text(b, cell);
		k->is_failed |= !s;
	}
	if (!VEC_PUSH(&k->cells, s))
		k->is_failed = true;
}

void asc_putf(struct asc_build *b, struct asc_table *k, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	sb_reset(&b->scratch);
	sb_vprintf(&b->scratch, fmt, ap);
	va_end(ap);
	k->is_failed |= b->scratch.failed;
	asc_put(b, k, (struct str){b->scratch.p ? b->scratch.p : "", b->scratch.n});
}

void asc_table_drop(struct asc_table *k)
{
	VEC_FREE(&k->cols);
	VEC_FREE(&k->cells);
}

bool asc_table_close(struct asc_build *b, struct asc_table *k)
{
	struct arena *a = &b->trace->arena;
	bool ok = !k->is_failed;

	if (ok && k->cols.n && k->cells.n >= k->cols.n) {
		k->t.n_cols = (uint32_t)k->cols.n;
		k->t.n_rows = (uint32_t)(k->cells.n / k->cols.n);
		k->t.cols = arena_memdup(a, k->cols.v, k->cols.n * sizeof(*k->cols.v));
		k->t.cells = arena_memdup(a, k->cells.v, k->cells.n * sizeof(*k->cells.v));
		ok = k->t.cols && k->t.cells && VEC_PUSH(&b->tables, k->t);
	}
	asc_table_drop(k);
	return ok;
}

/* --- a quick look ----------------------------------------------------------------------------- */

/*
 * A quick look at an Ascend capture finds its size. Pipes and instructions could be counted only by
 * reading all events, so they stay uncounted here.
 */

#define MAX_DEPTH 4

static uint64_t ascend_build_size_of(const struct file_fence *f, const char *path, unsigned depth);

struct look_sum {
	const struct file_fence *fence;
	const char *dir;
	unsigned depth;
	uint64_t bytes;
};

static bool ascend_build_add(void *ctx, const char *name, struct incore_error *e)
{
	struct look_sum *s = ctx;
	char *path = path_join(s->dir, name);

	(void)e;
	if (path)
		s->bytes += ascend_build_size_of(s->fence, path, s->depth);
	mem_free(path);
	return true;
}

/* Links are not followed: their targets are not part of the run. */
static uint64_t ascend_build_size_of(const struct file_fence *f, const char *path, unsigned depth)
{
	struct incore_error ignored = {0};
	struct look_sum s = {f, path, depth - 1, 0};
	struct stat st;

	if (file_lstat_in(f, path, &st) != 0)
		return 0;
	if (S_ISREG(st.st_mode))
		return (uint64_t)st.st_size;
	if (!S_ISDIR(st.st_mode) || depth == 0)
		return 0;
	dir_each_in(f, path, ascend_build_add, &s, &ignored);
	incore_error_clear(&ignored);
	return s.bytes;
}

void asc_look(const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	(void)a;
	c->is_uncounted = true;
	c->n_bytes = ascend_build_size_of(capture_fence(cache), path, MAX_DEPTH);
	c->is_empty = c->n_bytes == 0;
}
