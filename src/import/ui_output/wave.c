/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wave.c: one wave file -> the columns of one track. This is the hot path of every question: rows
 * come in batches, are checked by the sign bit of one accumulated word, and only a failed batch is
 * searched row by row for the place. Nothing is allocated per wave in the steady state.
 */
#include "import/ui_output/ui_output.h"

#include <errno.h>

#include "base/search.h"
#include "isa/amd.h"

#define BATCH 256
#define COLUMNS 5 /* time, category, stall, duration, line */
/* Total limit for kept wave files that will be read again. */
#define MOST_KEPT_BYTES ((size_t)64 << 20)
#define FILE_SE 0 /* index in coord_file */
#define FILE_CU 1
#define FILE_SIMD 2
#define FILE_SLOT 3
#define FILE_WAVE 4

/* One batch of rows as filled by its reader. */
union rows {
	int64_t wide[BATCH * COLUMNS]; /* also for fewer columns */
	struct json_row5 narrow[BATCH];
};

struct wave_scratch { /* track_data.loader_scratch */
	struct file_data file;
	struct strbuf path;
	union rows rows;
};

/* Where a batch began, so that a bad row can be found again. */
struct wave_mark {
	const char *p;
	unsigned depth;
	bool need_comma;
};

static struct wave_mark ui_wave_mark_of(const struct json_reader *r)
{
	return (struct wave_mark){r->p, r->depth, r->need_comma};
}

static code_idx ui_wave_find_row(const struct ui_code_index *x, int64_t number)
{
	uint32_t lo = 0, hi = x->n_sorted;

	BISECT(lo, hi, i, x->numbers[i] < number);
	return lo < x->n_sorted && x->numbers[lo] == number ? x->rows[lo] : x->n_code;
}

static inline code_idx ui_wave_row_of(const struct ui_code_index *x, int64_t number)
{
	if (x->n_by_number)
		return (uint64_t)number < x->n_by_number ? x->by_number[number] : x->n_code;
	return ui_wave_find_row(x, number);
}

/* What is wrong with this row; NULL: it is valid. */
static const char *row_fault(const int64_t *row, int64_t prev, const char **code)
{
	*code = "bad-value";
	if (row[0] < 0 || row[1] < 0 || row[2] < 0 || row[3] < 0 || row[4] < 0) {
		*code = "out-of-range";
		return "negative number in a record";
	}
	if (row[0] > UI_MAX_TIME_CYC || row[3] > UINT32_MAX) {
		*code = "out-of-range";
		return "a time or duration too large for a trace";
	}
	if (row[0] < prev)
		return "a record starts before the record it follows";
	if (row[3] < row[2])
		return "duration smaller than stall";
	return NULL;
}

/* Goes back to the start of the batch, finds the bad row and fails there. */
static void reject_row(struct json_reader *r, struct wave_mark m, int64_t prev)
{
	int64_t row[COLUMNS];
	const char *code = "bad-value", *fault;

	r->p = m.p;
	r->depth = m.depth;
	r->need_comma = m.need_comma;
	for (;;) {
		const char *at = r->p;

		if (json_read_i64_rows(r, COLUMNS, 1, row) != 1)
			return;
		fault = row_fault(row, prev, &code);
		if (fault) {
			json_reject(r, code, "%s: [%lld,%lld,%lld,%lld,%lld]", fault,
				(long long)row[0], (long long)row[1], (long long)row[2],
				(long long)row[3], (long long)row[4]);
			while (at < r->end && *at != '[')
				at++;
			r->fail_at = at;
			return;
		}
		prev = row[0];
	}
}

struct wave_record { /* one row; a negative number has the top bit */
	uint64_t time, category, stall, dur, line;
};

/* `is_narrow` is a compile-time constant. */
__attribute__((always_inline)) static inline struct wave_record ui_wave_record_at(
	const union rows *rows, bool is_narrow, size_t k)
{
	const struct json_row5 *five = &rows->narrow[k];
	const int64_t *row = rows->wide + k * COLUMNS;

	if (is_narrow)
		return (struct wave_record){json_row5_first(five), five->second, five->third,
			five->fourth, five->fifth};
	return (struct wave_record){(uint64_t)row[0], (uint64_t)row[1], (uint64_t)row[2],
		(uint64_t)row[3], (uint64_t)row[4]};
}

/*
 * Each of these fills some columns from n rows and returns a word whose top bit is set if a row is
 * bad. The columns are held in locals: a store to a byte column could change any pointer in *d for
 * all the compiler knows. Two short loops are faster than one that needs too many registers.
 */
__attribute__((always_inline)) static inline uint64_t take_times(const union rows *restrict rows,
	bool is_narrow, size_t n, uint64_t before, struct track_data *d)
{
	uint64_t *restrict starts = d->start_cyc + d->n;
	uint32_t *restrict durs = d->dur_cyc + d->n, *restrict stalls = d->stall_cyc + d->n;
	uint64_t bad = 0;

	for (size_t k = 0; k < n; k++) {
		struct wave_record x = ui_wave_record_at(rows, is_narrow, k);

		bad |= (x.time - before) | (x.dur - x.stall);
		if (!is_narrow)
			bad |= x.time | x.stall | x.dur | ((uint64_t)UINT32_MAX - x.dur) |
			       ((uint64_t)UI_MAX_TIME_CYC - x.time);
		before = x.time;
		starts[k] = x.time;
		durs[k] = (uint32_t)x.dur;
		stalls[k] = (uint32_t)x.stall;
	}
	return bad;
}

__attribute__((always_inline)) static inline uint64_t take_codes(const struct ui_code_index *x,
	const union rows *restrict rows, bool is_narrow, size_t n, struct track_data *d)
{
	const struct ui_code_index index = *x;
	code_idx *restrict codes = d->code + d->n;
	uint8_t *restrict classes = d->inst_class + d->n, *restrict tags = d->tag + d->n;
	uint64_t bad = 0;
	uint32_t unknown = 0;

	for (size_t k = 0; k < n; k++) {
		struct wave_record row = ui_wave_record_at(rows, is_narrow, k);
		code_idx code = ui_wave_row_of(&index, (int64_t)row.line);
		uint64_t narrow = row.category < AMD_LUT_WIDTH ? row.category : AMD_LUT_WIDTH - 1;

		bad |= row.category | row.line;
		classes[k] = index.class_lut[(size_t)code * AMD_LUT_WIDTH + narrow];
		tags[k] = (uint8_t)(row.category < 255 ? row.category : 255);
		unknown += code == index.n_code;
		codes[k] = code == index.n_code ? NO_CODE : code;
	}
	d->n_unknown_code += unknown;
	return bad;
}

/* Compiled once for each kind of rows. */
static uint64_t take_narrow(const struct ui_code_index *x, const union rows *rows, size_t n,
	uint64_t before, struct track_data *d)
{
	return take_times(rows, true, n, before, d) | take_codes(x, rows, true, n, d);
}

static uint64_t take_wide(const struct ui_code_index *x, const union rows *rows, size_t n,
	uint64_t before, struct track_data *d)
{
	return take_times(rows, false, n, before, d) | take_codes(x, rows, false, n, d);
}

static void read_instructions(struct json_reader *r, const struct ui_code_index *x,
	struct track_data *d, union rows *rows)
{
	uint64_t before = 0, bad;
	size_t n = BATCH;
	bool is_narrow = true;

	if (!json_enter_array_or_null(r))
		return;
	while ((n == BATCH || is_narrow) && !r->is_failed) {
		struct wave_mark m = ui_wave_mark_of(r);

		n = json_read_rows5(r, BATCH, rows->narrow);
		is_narrow = n != 0;
		if (!is_narrow)
			n = json_read_i64_rows(r, COLUMNS, BATCH, rows->wide);
		if (!n)
			break;
		if (d->n > UINT32_MAX - BATCH || !track_data_reserve(d, d->n + BATCH)) {
			json_reject(r, "no-memory", "out of memory");
			return;
		}
		bad = is_narrow ? take_narrow(x, rows, n, before, d)
				: take_wide(x, rows, n, before, d);
		if ((int64_t)bad < 0) {
			if (!r->is_failed)
				reject_row(r, m, (int64_t)before);
			return;
		}
		d->n += (uint32_t)n;
		before = d->start_cyc[d->n - 1];
	}
}

static void ui_wave_read_states(struct json_reader *r, struct track_data *d, int64_t *rows)
{
	size_t n = BATCH;

	if (!json_enter_array_or_null(r))
		return;
	while (n == BATCH && !r->is_failed) {
		n = json_read_i64_rows(r, 2, BATCH, rows);
		if (d->n_states > UINT32_MAX - BATCH ||
			!track_data_reserve_states(d, d->n_states + BATCH)) {
			json_reject(r, "no-memory", "out of memory");
			return;
		}
		for (size_t k = 0; k < n; k++) {
			int64_t state = rows[k * 2], dur = rows[k * 2 + 1];

			if (state < 0 || state >= STATE_COUNT || dur < 0 || dur > UINT32_MAX) {
				json_reject(r, "out-of-range",
					"expected a state [0..4, cycles], found [%lld,%lld]",
					(long long)state, (long long)dur);
				return;
			}
			d->state[d->n_states] = (uint8_t)state;
			d->state_dur_cyc[d->n_states++] = (uint32_t)dur;
		}
	}
}

static code_idx ui_wave_stated_row(const struct ui_code_index *x, int64_t number)
{
	code_idx code = number < 0 ? x->n_code : ui_wave_row_of(x, number);

	return code == x->n_code ? NO_CODE : code;
}

/* [[producer_line, 0], ...] of one wait */
static void ui_wave_read_producers(
	struct json_reader *r, const struct ui_code_index *x, struct track_data *d, int64_t *rows)
{
	size_t n = BATCH;

	if (!json_enter_array_or_null(r))
		return;
	while (n == BATCH && !r->is_failed) {
		n = json_read_i64_rows(r, 1, BATCH, rows);
		if (d->n_stated_producers > UINT32_MAX - BATCH ||
			!track_data_reserve_stated(d, 0, d->n_stated_producers + BATCH)) {
			json_reject(r, "no-memory", "out of memory");
			return;
		}
		for (size_t k = 0; k < n; k++)
			d->stated_producers[d->n_stated_producers++] =
				ui_wave_stated_row(x, rows[k]);
	}
}

/* [[wait_line, [[producer_line, 0], ...]], ...] */
static void ui_wave_read_waits(
	struct json_reader *r, const struct ui_code_index *x, struct track_data *d, int64_t *rows)
{
	if (!json_enter_array_or_null(r))
		return;
	while (json_next_item(r)) {
		struct stated_wait w = {.first = d->n_stated_producers};
		int64_t line;

		if (!json_enter_array(r) || !json_next_item(r) || !json_get_i64(r, &line) ||
			!json_next_item(r)) {
			json_reject(r, "bad-value", "expected a wait's [line, producers]");
			return;
		}
		w.wait = ui_wave_stated_row(x, line);
		ui_wave_read_producers(r, x, d, rows);
		while (json_next_item(r))
			json_skip(r);
		w.n = d->n_stated_producers - w.first;
		if (d->n_stated_waits == UINT32_MAX ||
			!track_data_reserve_stated(d, d->n_stated_waits + 1, 0)) {
			json_reject(r, "no-memory", "out of memory");
			return;
		}
		d->stated_waits[d->n_stated_waits++] = w;
	}
}

static void get_coord(struct json_reader *r, struct track_data *d, unsigned level)
{
	json_get_u32(r, &d->coord_file[level]);
}

static void ui_wave_read_wave(struct json_reader *r, const struct ui_code_index *x, unsigned want,
	struct track_data *d, union rows *rows)
{
	struct str key;
	uint64_t seen = 0;

	if (!json_enter_object(r))
		return;
	while (json_next_key(r, &key)) {
		if (str_is(key, "instructions")) {
			if (!json_once(r, &seen, 0, key))
				return;
			if (want & TRACK_NO_SLICES)
				json_skip(r);
			else
				read_instructions(r, x, d, rows);
		} else if (str_is(key, "timeline") && want & TRACK_STATES) {
			if (json_once(r, &seen, 1, key))
				ui_wave_read_states(r, d, rows->wide);
		} else if (str_is(key, "waitcnt") && want & TRACK_STATED_WAITS) {
			if (json_once(r, &seen, 2, key))
				ui_wave_read_waits(r, x, d, rows->wide);
		} else if (str_is(key, "begin")) {
			json_once(r, &seen, 3, key);
			ui_get_time(r, &d->begin_cyc);
		} else if (str_is(key, "end")) {
			json_once(r, &seen, 4, key);
			ui_get_time(r, &d->end_cyc);
		} else if (str_is(key, "cu")) {
			get_coord(r, d, FILE_CU);
		} else if (str_is(key, "simd")) {
			get_coord(r, d, FILE_SIMD);
		} else if (str_is(key, "slot")) {
			get_coord(r, d, FILE_SLOT);
		} else if (str_is(key, "id")) {
			get_coord(r, d, FILE_WAVE);
		} else {
			json_skip(r);
		}
	}
	if (!r->is_failed && (seen & 0x18) != 0x18)
		json_reject(r, "missing-key", "a wave without \"begin\" or \"end\"");
	else if (d->end_cyc < d->begin_cyc)
		json_reject(r, "bad-value", "wave ends (%llu) before it begins (%llu)",
			(unsigned long long)d->end_cyc, (unsigned long long)d->begin_cyc);
	else if (d->n && d->start_cyc[0] < d->begin_cyc)
		json_reject(r, "bad-value",
			"the first record (%llu) lies before the wave's begin (%llu)",
			(unsigned long long)d->start_cyc[0], (unsigned long long)d->begin_cyc);
}

/* "SE0" */
static void ui_wave_read_name(struct json_reader *r, struct track_data *d)
{
	struct str s;
	uint64_t se;

	if (json_get_str_or_null(r, &s) && str_starts(s, "SE") &&
		ui_decimal(str_sub(s, 2, s.n), &se) && se < UI_MAX_SE)
		d->coord_file[FILE_SE] = (uint32_t)se;
}

static bool wave_parse(struct json_reader *r, const struct ui_code_index *x, unsigned want,
	struct track_data *d, union rows *rows)
{
	struct str key;
	uint64_t seen = 0;

	if (!json_enter_object(r))
		return false;
	while (json_next_key(r, &key)) {
		if (str_is(key, "wave")) {
			if (json_once(r, &seen, 0, key))
				ui_wave_read_wave(r, x, want, d, rows);
		} else if (str_is(key, "num_insts")) {
			json_get_u32(r, &d->stated_slices);
		} else if (str_is(key, "name")) {
			ui_wave_read_name(r, d);
		} else {
			json_skip(r);
		}
	}
	if (!r->is_failed && !(seen & 1))
		json_reject(r, "missing-key", "no \"wave\" in this wave file");
	return !r->is_failed;
}

bool ui_wave_parse(
	struct json_reader *r, const struct ui_code_index *x, unsigned want, struct track_data *d)
{
	union rows rows;

	return wave_parse(r, x, want, d, &rows);
}

static void ui_wave_free_scratch(void *p)
{
	struct wave_scratch *s = p;

	file_unload(&s->file);
	sb_free(&s->path);
	mem_free(s);
}

void ui_wave_keep(struct trace *t)
{
	struct ui_loader *l = t->loader_ctx;

	if (l->kept)
		return;
	l->kept = mem_zalloc(t->n_tracks, sizeof(*l->kept)); /* if NULL, files are opened again */
	l->n_kept = l->kept ? t->n_tracks : 0;
}

static const struct file_data *loaded_before(
	const struct ui_loader *l, track_idx i, const char *name)
{
	if (i < l->n_kept && l->kept[i].data)
		return &l->kept[i];
	for (unsigned k = 0; k < l->n_loaded; k++)
		if (!strcmp(l->loaded[k].name, name))
			return &l->loaded[k].file;
	return NULL;
}

/* Called by several workers at the same time, but never for the same track. */
static const struct file_data *keep_file(struct ui_loader *l, track_idx i, struct file_data *f)
{
	if (i >= l->n_kept ||
		__atomic_add_fetch(&l->kept_bytes, f->buf_cap, __ATOMIC_RELAXED) > MOST_KEPT_BYTES)
		return f;
	l->kept[i] = *f;
	*f = (struct file_data){0};
	return &l->kept[i];
}

bool ui_wave_load(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	struct ui_loader *l = t->loader_ctx;
	const char *name = t->tracks[i].name;
	struct wave_scratch *s =
		track_scratch(d, sizeof(struct wave_scratch), ui_wave_free_scratch);
	const struct file_data *f;
	struct json_reader r;
	bool ok;

	if (!s)
		return err_nomem(e);
	sb_reset(&s->path);
	if (!sb_puts(&s->path, l->dir) || !sb_putc(&s->path, '/') || !sb_puts(&s->path, name)) {
		sb_free(&s->path);
		return err_nomem(e);
	}
	f = loaded_before(l, i, name);
	if (!f) {
		if (l->is_absent[i]) /* known from the listing, so no system call */
			return err_errno(e, ENOENT, s->path.p, "cannot open");
		if (!file_load_at(&s->file, l->root, name, s->path.p, e))
			return false;
		f = keep_file(l, i, &s->file);
	}
	json_init(&r, f->data, f->size, s->path.p, 0);
	wave_parse(&r, &l->index, want, d, &s->rows);
	ok = json_finish(&r, e);
	if (!ok && r.fail_code && !strcmp(r.fail_code, "no-memory"))
		err_nomem(e);
	json_deinit(&r);
	return ok;
}

/* cu precedes "instructions" in the file, so only its beginning is read. */
static void head_cu(struct ui_bytes in, int64_t *cu)
{
	struct json_reader r;
	struct str key;
	bool found = false;
	uint32_t v;

	json_init(&r, in.p, in.n, in.path, 0);
	if (json_enter_object(&r))
		while (!found && json_next_key(&r, &key)) {
			if (!str_is(key, "wave")) {
				json_skip(&r);
				continue;
			}
			if (!json_enter_object(&r))
				break;
			while (!found && json_next_key(&r, &key)) {
				found = str_is(key, "cu") && json_get_u32(&r, &v) && v < 65536;
				if (!found)
					json_skip(&r);
			}
			break;
		}
	json_deinit(&r);
	if (found)
		*cu = v;
}

int64_t ui_wave_find_cu(struct ui_build *b, struct ui_loader *l)
{
	int64_t cu = NO_VALUE;

	/* a few attempts: the first file may be missing or damaged */
	for (size_t i = 0; i < b->manifest.waves.n && i < UI_CU_ATTEMPTS && cu == NO_VALUE; i++) {
		struct ui_loaded_wave *w = &l->loaded[l->n_loaded];
		const char *path;

		w->name = b->manifest.waves.v[i].name;
		path = arena_printf(&b->scratch, "%s/%s", b->dir, w->name);
		if (!path || !ui_has(b, w->name) || !ui_load_into(b, &w->file, w->name, path, NULL))
			continue;
		l->n_loaded++;
		head_cu((struct ui_bytes){w->file.data, w->file.size, w->name}, &cu);
	}
	return cu;
}
