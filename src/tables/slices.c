/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.c: the tables that are read track by track: slices and links. Parts: links; slices.
 */
#include "analysis/pipes/pipe_sweep.h"
#include "analysis/waves/waits.h"
#include "base/search.h"
#include "tables/source.h"
#include "trace/account.h"
#include "trace/kind.h"

/* --- links ------------------------------------------------------------------------------------ */

/*
 * Which slice waited for which: the producers of counter waits, track by track, then the links
 * between tracks that the capture contains.
 */

struct link_row {
	uint32_t capture;
	const char *kind;
	uint32_t track, slice, from_track, from_slice;
};

static const struct column link_columns[] = {
	COLUMN(link_row, capture, UNIT_INDEX, "number of the capture, as in the other tables"),
	COLUMN(link_row, kind, UNIT_NONE, "kind of the link",
		.words = "wait|flag|barrier|cross-core|flow"),
	COLUMN(link_row, track, UNIT_INDEX, "track of the slice that waited"),
	COLUMN(link_row, slice, UNIT_INDEX, "number of the slice that waited"),
	COLUMN(link_row, from_track, UNIT_INDEX, "track of the slice that was waited for"),
	COLUMN(link_row, from_slice, UNIT_INDEX,
		"slice that was waited for; for a wait on a counter: the last one issued"),
};
static const struct record link_record = RECORD_OF(link_row, RECORD_LINE, link_columns);

struct links_state {
	struct track_walk walk;
	struct wait_tables *tables;
	struct waits waits;
	VEC(struct link_row) rows; /* of the loaded track */
	size_t at;
	uint32_t next_stated;
	bool is_inside;
};

static bool links_table_start(struct table_cursor *c, struct incore_error *e)
{
	struct links_state *s = arena_zalloc(&c->arena, 1, sizeof(*s));

	if (!s)
		return err_nomem(e);
	c->state = s;
	s->walk.loaded = NO_TRACK;
	s->walk.less = TRACK_LESS & ~(unsigned)TRACK_NO_CODE;
	s->tables = wait_tables_new(c->trace, e);
	return s->tables != NULL;
}

/* Adds one link per counter of a wait, from the instance that was issued last. */
static bool links_table_resolve(
	struct table_cursor *c, struct links_state *s, struct incore_error *e)
{
	track_idx i = s->walk.loaded;
	struct walk_track w = {.trace = c->trace,
		.idx = i,
		.track = &c->trace->tracks[i],
		.data = s->walk.data,
		.to_cyc = UINT64_MAX};

	s->rows.n = s->at = 0;
	if (!w.data->n)
		return true;
	if (!waits_resolve(&s->waits, s->tables, &w, WAITS_BY_CODE, e))
		return false;
	EACH (const struct wait_event, v, s->waits.events.v, s->waits.events.n) {
		for (uint8_t k = 0; k < v->n_sides; k++) {
			uint32_t from = s->waits.sides.v[v->first_side + k].youngest;
			struct link_row x = {c->scan.capture, "wait", i, v->slice, i, from};

			if (from < w.data->n && !VEC_PUSH(&s->rows, x))
				return err_nomem(e);
		}
	}
	return true;
}

static struct link_row links_table_stated_row(const struct table_cursor *c, const struct link *l)
{
	static const char *const words[] = {[LINK_FLAG] = "flag",
		[LINK_BARRIER] = "barrier",
		[LINK_CROSS_CORE] = "cross-core",
		[LINK_FLOW] = "flow"};

	return (struct link_row){c->scan.capture, words[l->kind], l->to_track, l->to_slice,
		l->from_track, l->from_slice};
}

static void links_table_put(struct table_cursor *c, const struct link_row *x)
{
	for (unsigned k = 0; k < c->n_columns; k++) {
		const struct column *column = &link_record.columns[k];
		size_t width = column_width(column->type);

		if (c->vector[k])
			memcpy((char *)c->vector[k] + c->n_out * width,
				(const char *)x + column->offset, width);
	}
	c->n_out++;
}

static bool next_links(struct table_cursor *c, struct incore_error *e)
{
	struct links_state *s = c->state;

	if (!s && !links_table_start(c, e))
		return false;
	s = c->state;
	while (c->n_out < TABLE_BATCH) {
		if (s->is_inside && s->at < s->rows.n) {
			links_table_put(c, &s->rows.v[s->at++]);
			continue;
		}
		if (!track_walk_next(&s->walk, c, e))
			return false;
		s->is_inside = s->walk.loaded != NO_TRACK;
		if (!s->is_inside)
			break;
		if (!links_table_resolve(c, s, e))
			return false;
	}
	for (; c->n_out < TABLE_BATCH && s->next_stated < c->trace->n_links; s->next_stated++) {
		struct link_row x = links_table_stated_row(c, &c->trace->links[s->next_stated]);

		if (x.track >= c->scan.first_track && x.track <= c->scan.last_track)
			links_table_put(c, &x);
	}
	return true;
}

static void rewind_links(struct table_cursor *c)
{
	struct links_state *s = c->state;

	if (!s)
		return;
	s->walk.next = 0;
	s->next_stated = 0;
	s->is_inside = false;
}

static void close_links(struct table_cursor *c)
{
	struct links_state *s = c->state;

	if (!s)
		return;
	track_data_deinit(&s->walk.own);
	waits_deinit(&s->waits);
	wait_tables_free(s->tables);
	VEC_FREE(&s->rows);
}

static uint64_t estimate_links(const struct trace *t)
{
	return t->n_links + table_count_slices(t) / 16;
}

const struct table links_table = {
	.name = "links",
	.doc = "which slice waited for which",
	.record = &link_record,
	.has_lasting_texts = true,
	.source = &(const struct table_source){.next = next_links,
		.rewind = rewind_links,
		.close = close_links,
		.estimate = estimate_links},
};

/* --- slices ----------------------------------------------------------------------------------- */

/*
 * Every executed instruction. Columns that a track stores in the form of the table are not copied;
 * limits on time and slice are found by bisection, those on rows by a mark for each row of the
 * code.
 */

struct slice_row {
	uint32_t capture, track, slice;
	int64_t start;
	uint32_t duration, stall;
	int64_t row;
	const char *class;
	uint8_t category;
	uint64_t bucket[BUCKET_COUNT];
};

/* Index of each column in the record. */
enum slice_column {
	SLICE_CAPTURE,
	SLICE_TRACK,
	SLICE_INDEX,
	SLICE_START,
	SLICE_DURATION,
	SLICE_STALL,
	SLICE_CODE,
	SLICE_CLASS,
	SLICE_CATEGORY,
	SLICE_BUCKETS, /* the first of BUCKET_COUNT */
	SLICE_COLUMNS = SLICE_BUCKETS + BUCKET_COUNT
};

#define BUCKET_COLUMN(NAME, AT, DOC)                                                               \
	COLUMN_AS(slice_row, bucket[AT], "bucket_" NAME, UNIT_CYCLES,                              \
		DOC " in the accounting of all cycles; null: pipes", NULLABLE)

static const struct column slice_columns[] = {
	[SLICE_CAPTURE] = COLUMN(
		slice_row, capture, UNIT_INDEX, "number of the capture, as in the other tables"),
	[SLICE_TRACK] =
		COLUMN(slice_row, track, UNIT_INDEX, "number of the wave or pipe in tracks"),
	[SLICE_INDEX] =
		COLUMN(slice_row, slice, UNIT_INDEX, "number of the slice on its track, from 0"),
	[SLICE_START] = COLUMN(slice_row, start, UNIT_CYCLES,
		"aligned start, counted from the begin of the first track, as for --from and --to"),
	[SLICE_DURATION] =
		COLUMN(slice_row, duration, UNIT_CYCLES, "stall + issue cycles, as recorded"),
	[SLICE_STALL] = COLUMN(slice_row, stall, UNIT_CYCLES, "cycles before issue, as recorded"),
	[SLICE_CODE] = COLUMN(slice_row, row, UNIT_ROW,
		"row of the instruction in code; null: unknown", NULLABLE),
	[SLICE_CLASS] = COLUMN(slice_row, class, UNIT_NONE, "class of the instruction"),
	[SLICE_CATEGORY] =
		COLUMN(slice_row, category, UNIT_INDEX, "category number of the producer"),
	[SLICE_BUCKETS] = BUCKET_COLUMN("issue", BUCKET_ISSUE, "issue cycles"),
	BUCKET_COLUMN("stall", BUCKET_STALL, "stalled cycles"),
	BUCKET_COLUMN("wait", BUCKET_WAIT, "wait cycles"),
	BUCKET_COLUMN(
		"idle", BUCKET_IDLE, "idle cycles before the instruction, and after the last one"),
	BUCKET_COLUMN("drain", BUCKET_DRAIN, "drain cycles at the end of the program"),
};
_Static_assert(sizeof(slice_columns) / sizeof(slice_columns[0]) == SLICE_COLUMNS, "one each");
_Static_assert(BUCKET_ISSUE == 0 && BUCKET_STALL == 1 && BUCKET_WAIT == 2 && BUCKET_IDLE == 3 &&
		       BUCKET_DRAIN == 4,
	"buckets in the order of their columns");

static const struct record slice_record = RECORD_OF(slice_row, RECORD_LINE, slice_columns);

struct slices_state {
	struct track_walk walk;
	uint8_t *is_kept;			/* by code row: is it wanted? NULL: all rows */
	code_idx first_kept, last_kept, n_kept; /* contiguous unless is_scattered */
	bool is_scattered;
	uint32_t at, end;  /* range of slices left in the loaded track */
	uint32_t *indices; /* slices of the batch, if rows or classes are limited */
	struct account account;
	bool has_buckets, is_accounting, is_inside; /* a track is loaded and not used up */
	/* For is_by_class: the classes that occur, by name, and the one of this pass. */
	uint8_t classes[256];
	unsigned n_classes, class;
	const char *class_names[256];
};

static bool limits_rows(const struct table_cursor *c)
{
	return c->scan.first_row > INT64_MIN || c->scan.last_row < INT64_MAX;
}

/* Marks the wanted rows of the code, which are usually contiguous. */
static void slices_table_mark_rows(struct table_cursor *c, struct slices_state *s)
{
	s->n_kept = 0;
	s->is_scattered = false;
	for (code_idx i = 0; i < c->trace->n_code; i++) {
		int64_t row = c->trace->code[i].number;

		s->is_kept[i] = row >= c->scan.first_row && row <= c->scan.last_row;
		if (!s->is_kept[i])
			continue;
		if (!s->n_kept)
			s->first_kept = i;
		s->is_scattered |= i != s->first_kept + s->n_kept;
		s->last_kept = i;
		s->n_kept++;
	}
}

static bool slices_table_start(struct table_cursor *c, struct incore_error *e)
{
	struct slices_state *s = arena_zalloc(&c->arena, 1, sizeof(*s));

	if (!s)
		return err_nomem(e);
	c->state = s;
	s->walk.loaded = NO_TRACK;
	s->has_buckets = kind_row(c->trace)->has_buckets;
	for (unsigned k = 0; k < 256; k++)
		s->class_names[k] = class_name((enum inst_class)k);
	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		s->is_accounting |= s->has_buckets && table_wants(c, SLICE_BUCKETS + b);
	return true;
}

static bool limits_time(const struct table_cursor *c)
{
	return c->scan.first_cyc > INT64_MIN || c->scan.last_cyc < INT64_MAX;
}

/* Columns of a track that neither the scan nor its limits use. */
static unsigned less_of(const struct table_cursor *c, const struct slices_state *s)
{
	bool all = s->is_accounting;
	unsigned less = 0;

	if (!all && !table_wants(c, SLICE_START) && !limits_time(c))
		less |= TRACK_NO_START;
	if (!all && !table_wants(c, SLICE_DURATION) && !table_wants(c, SLICE_STALL))
		less |= TRACK_NO_LENGTH;
	if (!table_wants(c, SLICE_CODE) && !limits_rows(c))
		less |= TRACK_NO_CODE;
	if (!all && !table_wants(c, SLICE_CLASS) && !c->scan.is_by_class)
		less |= TRACK_NO_CLASS;
	if (!table_wants(c, SLICE_CATEGORY))
		less |= TRACK_NO_TAG;
	return less;
}

/* Sets which slices the walk may leave out: none if accounting needs the gaps between slices or a
 * limit on slices needs to count them. */
static void limit_walk(const struct table_cursor *c, struct slices_state *s)
{
	s->walk.may_be_part =
		!s->is_accounting && c->scan.first_slice == 0 && c->scan.last_slice == UINT32_MAX;
	s->walk.first_code = limits_rows(c) ? s->first_kept : 0;
	s->walk.last_code = limits_rows(c) ? s->last_kept : UINT32_MAX;
}

/* Allocates the buffers for limits on rows on first use. */
static bool prepare_limits(struct table_cursor *c, struct slices_state *s, struct incore_error *e)
{
	if ((limits_rows(c) || c->scan.is_by_class) && !s->indices) {
		s->indices = arena_zalloc(&c->arena, TABLE_BATCH, sizeof(*s->indices));
		if (!s->indices)
			return err_nomem(e);
	}
	if (!limits_rows(c) || s->is_kept)
		return true;
	s->is_kept = arena_zalloc(&c->arena, (size_t)c->trace->n_code + 1, 1);
	if (!s->is_kept)
		return err_nomem(e);
	slices_table_mark_rows(c, s);
	return true;
}

/* Sets the range of slices of the loaded track within the limits on time and slice. */
static void enter_track(struct table_cursor *c, struct slices_state *s)
{
	const struct track_data *d = s->walk.data;
	int64_t shift = table_shift(c, s->walk.loaded);
	uint32_t lo = 0, hi = limits_time(c) ? d->n : 0;

	BISECT(lo, hi, i, (int64_t)d->start_cyc[i] + shift < c->scan.first_cyc);
	s->at = lo > c->scan.first_slice ? lo : c->scan.first_slice;
	hi = d->n;
	if (limits_time(c))
		BISECT(lo, hi, i, (int64_t)d->start_cyc[i] + shift <= c->scan.last_cyc);
	else
		lo = d->n;
	s->end = lo <= c->scan.last_slice ? lo : c->scan.last_slice + 1;
	s->is_inside = s->at < s->end;
	if (s->is_accounting)
		account_begin(&s->account, d, 0, UINT64_MAX);
}

#define LOOK_AHEAD 16u /* slices skipped together if none of them is wanted */

/* Skips blocks of slices from s->at on that contain no wanted slice. */
static void pass_others(struct slices_state *s)
{
	const code_idx *code = s->walk.data->code;

	for (; s->end - s->at > LOOK_AHEAD; s->at += LOOK_AHEAD) {
		const code_idx *next = code + s->at;
		uint32_t is_one = 0;

		for (unsigned i = 0; i < LOOK_AHEAD; i++)
			is_one |= next[i] - s->first_kept < s->n_kept;
		if (is_one)
			return;
	}
}

static uint32_t slices_table_choose_rows(const struct table_cursor *c, struct slices_state *s)
{
	const code_idx *code = s->walk.data->code;
	const uint8_t *class = s->walk.data->inst_class;
	uint32_t n = 0;

	while (s->at < s->end && n < TABLE_BATCH) {
		uint32_t stop;

		if (!s->is_scattered)
			pass_others(s);
		stop = s->end - s->at < LOOK_AHEAD ? s->end : s->at + LOOK_AHEAD;
		for (; s->at < stop && n < TABLE_BATCH; s->at++) {
			s->indices[n] = s->at;
			n += code[s->at] < c->trace->n_code && s->is_kept[code[s->at]] &&
			     (!c->scan.is_by_class || class[s->at] == s->classes[s->class]);
		}
	}
	return n;
}

static uint32_t choose_class(struct slices_state *s)
{
	const uint8_t *class = s->walk.data->inst_class;
	uint8_t wanted = s->classes[s->class];
	uint32_t n = 0;

	for (; s->at < s->end && n < TABLE_BATCH; s->at++) {
		s->indices[n] = s->at;
		n += class[s->at] == wanted;
	}
	return n;
}

/* Chooses the next slices: n from the old s->at on, or those in s->indices. Returns n. */
static uint32_t slices_table_choose(const struct table_cursor *c, struct slices_state *s)
{
	uint32_t n = s->end - s->at < TABLE_BATCH ? s->end - s->at : TABLE_BATCH;

	if (limits_rows(c))
		return slices_table_choose_rows(c, s);
	if (c->scan.is_by_class)
		return choose_class(s);
	s->at += n;
	return n;
}

static int slices_table_compare_names(const void *pa, const void *pb)
{
	const char *const *a = pa, *const *b = pb;

	return strcmp(*a, *b);
}

/* Finds the classes in the tracks of the scan, sorted by name, in a separate pass. */
static bool find_classes(struct table_cursor *c, struct slices_state *s, struct incore_error *e)
{
	const char *names[256];
	bool has[256] = {0};

	s->n_classes = s->class = 0;
	for (s->walk.next = 0;;) {
		if (!track_walk_next(&s->walk, c, e))
			return false;
		if (s->walk.loaded == NO_TRACK)
			break;
		for (uint32_t i = 0; i < s->walk.data->n; i++)
			has[s->walk.data->inst_class[i]] = true;
	}
	for (unsigned k = 0; k < 256; k++)
		if (has[k])
			names[s->n_classes++] = class_name((enum inst_class)k);
	SORT(names, s->n_classes, slices_table_compare_names);
	for (unsigned i = 0; i < s->n_classes; i++)
		for (unsigned k = 0; k < 256; k++)
			if (has[k] && class_name((enum inst_class)k) == names[i]) {
				s->classes[i] = (uint8_t)k;
				has[k] = false;
				break;
			}
	s->walk.next = 0;
	return true;
}

/* Points a column of the batch at `from`, or copies the n values at `indices` from there. */
static void slices_show(struct table_cursor *c, enum slice_column k, const uint32_t *from,
	const uint32_t *indices, uint32_t n)
{
	uint32_t *to = c->vector[k];

	if (!to)
		return;
	c->column[k] = indices ? (const void *)to : from;
	for (uint32_t i = 0; indices && i < n; i++)
		to[i] = from[indices[i]];
}

static void fill_buckets(struct table_cursor *c, struct slices_state *s, const uint32_t *indices,
	uint32_t first, uint32_t n)
{
	struct account a = s->account; /* local copy: stores to columns cannot alias it */
	const uint8_t *class = s->walk.data->inst_class;
	uint64_t *to[BUCKET_COUNT], unused = 0;
	size_t step[BUCKET_COUNT]; /* 0: not wanted, all values go to `unused` */

	for (unsigned b = 0; b < BUCKET_COUNT; b++) {
		step[b] = table_wants(c, SLICE_BUCKETS + b);
		to[b] = step[b] ? c->vector[SLICE_BUCKETS + b] : &unused;
		memset(to[b], 0, (step[b] ? n : 1) * sizeof(*to[b]));
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t slice = indices ? indices[i] : first + i;
		unsigned stall = class_stall_buckets[class[slice]];
		unsigned issue = class_issue_buckets[class[slice]];

		while (account_next(&a) && a.i < slice)
			;
		to[stall][i * step[stall]] = a.stall_cyc;
		to[issue][i * step[issue]] += a.issue_cyc;
		to[BUCKET_IDLE][i * step[BUCKET_IDLE]] += a.gap_cyc + a.tail_cyc;
	}
	s->account = a;
}

static void fill_no_buckets(struct table_cursor *c, uint32_t n)
{
	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		for (uint32_t i = 0; table_wants(c, SLICE_BUCKETS + b) && i < n; i++)
			((uint64_t *)c->vector[SLICE_BUCKETS + b])[i] = NO_U64;
}

/* Fills the columns that must be computed; from slice `first` on if indices is NULL. */
static void fill_made(struct table_cursor *c, struct slices_state *s, const uint32_t *indices,
	uint32_t first, uint32_t n)
{
	const struct track_data *d = s->walk.data;
	int64_t shift = table_shift(c, s->walk.loaded);
	uint32_t *capture = c->vector[SLICE_CAPTURE], *track = c->vector[SLICE_TRACK];
	uint32_t *index = c->vector[SLICE_INDEX];
	int64_t *begin = c->vector[SLICE_START], *row = c->vector[SLICE_CODE];
	const char **class = c->vector[SLICE_CLASS];
	uint8_t *category = c->vector[SLICE_CATEGORY];

#define SLICE (indices ? indices[i] : first + i)
	/* One loop per column, so that the compiler can optimise each. */
	for (uint32_t i = 0; capture && i < n; i++)
		capture[i] = c->scan.capture;
	for (uint32_t i = 0; track && i < n; i++)
		track[i] = s->walk.loaded;
	for (uint32_t i = 0; index && i < n; i++)
		index[i] = d->is_part ? d->number[SLICE] : SLICE;
	for (uint32_t i = 0; begin && i < n; i++)
		begin[i] = (int64_t)d->start_cyc[SLICE] + shift;
	for (uint32_t i = 0; row && i < n; i++)
		row[i] = table_row_of(c->trace, d->code[SLICE]);
	for (uint32_t i = 0; class && i < n; i++)
		class[i] = s->class_names[d->inst_class[SLICE]];
	for (uint32_t i = 0; category && i < n; i++)
		category[i] = d->tag[SLICE];
#undef SLICE
	if (s->is_accounting)
		fill_buckets(c, s, indices, first, n);
	if (!s->has_buckets)
		fill_no_buckets(c, n);
}

static bool next_slices(struct table_cursor *c, struct incore_error *e)
{
	struct slices_state *s = c->state;

	if (!s && !slices_table_start(c, e))
		return false;
	s = c->state;
	if (!prepare_limits(c, s, e))
		return false;
	if (limits_rows(c) && !s->n_kept)
		return true; /* no such row */
	s->walk.less = less_of(c, s);
	limit_walk(c, s);
	if (c->scan.is_by_class && !s->is_inside && s->walk.next == 0 && s->class == 0 &&
		!find_classes(c, s, e))
		return false;
	for (;;) {
		const uint32_t *indices = limits_rows(c) || c->scan.is_by_class ? s->indices : NULL;
		uint32_t first = s->at;
		uint32_t n = s->is_inside ? slices_table_choose(c, s) : 0;

		if (n) {
			slices_show(c, SLICE_DURATION,
				s->walk.data->dur_cyc + (indices ? 0 : first), indices, n);
			slices_show(c, SLICE_STALL, s->walk.data->stall_cyc + (indices ? 0 : first),
				indices, n);
			fill_made(c, s, indices, first, n);
			s->is_inside = s->at < s->end;
			c->n_out = n;
			return true;
		}
		if (!track_walk_next(&s->walk, c, e))
			return false;
		if (s->walk.loaded == NO_TRACK && c->scan.is_by_class &&
			s->class + 1 < s->n_classes) {
			s->class ++;
			s->walk.next = 0;
			continue;
		}
		if (s->walk.loaded == NO_TRACK)
			return true;
		enter_track(c, s);
	}
}

static void rewind_slices(struct table_cursor *c)
{
	struct slices_state *s = c->state;

	if (!s)
		return;
	s->walk.next = 0;
	s->class = 0;
	s->is_inside = false;
	if (limits_rows(c) && s->is_kept)
		slices_table_mark_rows(c, s);
}

static void close_slices(struct table_cursor *c)
{
	struct slices_state *s = c->state;

	if (s)
		track_data_deinit(&s->walk.own);
}

const struct table slices_table = {
	.name = "slices",
	.doc = "every executed instruction, by track and time",
	.record = &slice_record,
	.has_lasting_texts = true,
	.source = &(const struct table_source){.next = next_slices,
		.rewind = rewind_slices,
		.close = close_slices,
		.estimate = table_count_slices},
};
