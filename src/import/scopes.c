/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scopes.c: a file that incore/cuda.h wrote, as a trace: warps are tracks, scopes slices.
 *
 * Parts: the first line; a common time for all SMs; scopes that nest become intervals; tracks; the
 * format.
 */
#include <math.h>

#include "base/little_endian.h"
#include "base/map.h"
#include "base/search.h"
#include "base/vec.h"
#include "codec/json_reader.h"
#include "import/import.h"

/*
 * Reads what kernels recorded about themselves with incore/cuda.h, see incore-scopes(7): a line of
 * JSON, then for each warp its record and its events. The file is indexed once; a track's slices
 * are made from its events on demand. Data goes to the trace's arena. Threads: read-only once
 * loaded.
 */

#define SCOPE_MOST_NAMES 4096u
#define SCOPE_MOST_DEPTH 64u
#define SCOPE_MOST_ROWS 65536u
#define SCOPE_RECORD_BYTES 64u
#define SCOPE_EVENT_BYTES 16u

enum scope_kind { /* as in incore/cuda.h, and in files */
	SCOPE_WORK,
	SCOPE_WAITING,
	SCOPE_COPY,
	SCOPE_MATRIX,
	SCOPE_STORE,
	SCOPE_END,
	SCOPE_INSTANT,
	SCOPE_VALUE,
};

struct scope_head { /* the first line */
	const char *kernel, *device;
	uint32_t arch, sms, clock_khz, n_warps, n_lost_warps, ring;
	uint32_t grid[3], block[3];
	const char **names;
	uint32_t n_names;
};

struct scope_event {
	uint64_t clock; /* of the SM, all 64 bits */
	enum scope_kind kind;
	uint32_t name, value;
};

struct scope_warp {
	uint32_t sm, slot, block, warp;
	uint64_t begin_clock, begin_ns, end_clock, end_ns;
	uint32_t n_events, n_kept; /* in total; in the file */
	uint64_t at;		   /* offset of its record in the file */
	uint32_t run;		   /* number of the run in its slot */
	uint32_t n_slices;	   /* counted while collecting rows */
};

/* A code row is a scope inside its outer scopes: (row of the outer scope, name, kind). */
struct scope_row {
	uint32_t outer, name;
	enum scope_kind kind;
};
struct scope_rows {
	struct u64_map index; /* key -> row + 1 */
	VEC(struct scope_row) v;
};
#define NO_SCOPE UINT32_MAX

struct scope_file { /* trace.loader_ctx, in the trace's arena */
	struct file_data file;
	const char *path;
	struct scope_head head;
	struct scope_warp *warps; /* in the order of the tracks */
	int64_t *offset_cyc;	  /* by SM: offset from its clock to the time of the trace */
	uint32_t n_sms;		  /* of offset_cyc */
	struct u64_map rows;	  /* as scope_rows.index; owned by the file */
};

/* An interval in which one scope is the innermost; an instant has length 0. */
typedef bool (*scope_piece_fn)(void *ctx, uint32_t row, uint64_t from, uint64_t to);
struct scope_walk {
	scope_piece_fn piece;
	bool (*value)(void *ctx, const struct scope_event *x); /* or NULL */
	/* The row of a scope inside another (NO_SCOPE: none); NO_SCOPE: out of memory, or too many
	 * rows. */
	uint32_t (*row)(void *ctx, uint32_t outer, const struct scope_event *x);
	void *ctx;
	uint32_t n_cut;	 /* ends without a begin: lost by the ring, or never recorded */
	uint32_t n_open; /* scopes still open when the warp ended */
	uint32_t n_back; /* events earlier than their predecessor */
	uint32_t n_deep; /* scopes nested too deep: their time counts for the outer one */
};

/* --- the first line --------------------------------------------------------------------------- */

/* The first line of a file of scopes. */

struct head_reading {
	struct json_reader r;
	struct trace *t;
	struct scope_head *head;
	uint64_t version;
};

static void scopes_read_text(struct head_reading *x, const char **to)
{
	struct str s;

	if (json_get_str(&x->r, &s) && !(*to = arena_strndup(&x->t->arena, s.p, s.n)))
		json_reject(&x->r, "no-memory", "no memory");
}

static void scopes_read_shape(struct head_reading *x, uint32_t to[3])
{
	unsigned n = 0;

	for (json_enter_array(&x->r); json_next_item(&x->r); n++)
		if (n < 3)
			json_get_u32(&x->r, &to[n]);
		else
			json_skip(&x->r);
	if (n != 3 && !x->r.is_failed)
		json_reject(&x->r, NULL, "expected a shape of three numbers");
}

static void scopes_read_names(struct head_reading *x)
{
	struct scope_head *h = x->head;

	h->names = arena_zalloc(&x->t->arena, SCOPE_MOST_NAMES, sizeof(*h->names));
	if (!h->names)
		json_reject(&x->r, "no-memory", "no memory");
	h->n_names = 0;
	for (json_enter_array(&x->r); json_next_item(&x->r); h->n_names++) {
		if (h->n_names == SCOPE_MOST_NAMES) {
			json_reject(&x->r, NULL, "more than %u names", SCOPE_MOST_NAMES);
			return;
		}
		scopes_read_text(x, &h->names[h->n_names]);
	}
}

static void scopes_read_member(struct head_reading *x, struct str key)
{
	static const struct {
		const char *key;
		size_t at;
	} numbers[] = {{"arch", offsetof(struct scope_head, arch)},
		{"sms", offsetof(struct scope_head, sms)},
		{"clock_khz", offsetof(struct scope_head, clock_khz)},
		{"warps", offsetof(struct scope_head, n_warps)},
		{"warps_lost", offsetof(struct scope_head, n_lost_warps)},
		{"ring", offsetof(struct scope_head, ring)}};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (str_is(key, numbers[i].key)) {
			json_get_u32(&x->r, (uint32_t *)((char *)x->head + numbers[i].at));
			return;
		}
	if (str_is(key, "incore_scopes"))
		json_get_u64(&x->r, &x->version);
	else if (str_is(key, "kernel"))
		scopes_read_text(x, &x->head->kernel);
	else if (str_is(key, "device"))
		scopes_read_text(x, &x->head->device);
	else if (str_is(key, "grid"))
		scopes_read_shape(x, x->head->grid);
	else if (str_is(key, "block"))
		scopes_read_shape(x, x->head->block);
	else if (str_is(key, "names"))
		scopes_read_names(x);
	else
		json_skip(&x->r);
}

static bool scopes_read_head(
	struct scope_file *f, struct trace *t, size_t *end, struct incore_error *e)
{
	const uint8_t *line = memchr(f->file.data, '\n', f->file.size);
	struct head_reading x = {.t = t, .head = &f->head};
	char *copy;
	struct str key;
	bool ok;

	if (!line)
		return err_file(
			e, "truncated", f->path, f->file.size, "the first line does not end");
	*end = (size_t)(line - f->file.data) + 1;
	/* the line is followed by arbitrary bytes, which the reader must not see */
	copy = arena_zalloc(&t->arena, *end + JSON_PAD, 1);
	if (!copy)
		return err_nomem(e);
	memcpy(copy, f->file.data, *end);
	json_init(&x.r, copy, *end, f->path, 0);
	for (json_enter_object(&x.r); json_next_key(&x.r, &key);)
		scopes_read_member(&x, key);
	if (!x.r.is_failed && x.version != 1)
		json_reject(&x.r, "version", "version %llu of the format is not known",
			(unsigned long long)x.version);
	ok = json_finish(&x.r, e);
	json_deinit(&x.r);
	return ok;
}

/* --- a common time for all SMs ---------------------------------------------------------------- */

/*
 * A common time for all SMs. Each SM has its own clock, all with the same frequency; every warp
 * read both its SM's clock and the shared timer, at its begin and at its end.
 */

#define LEAST_SPAN_NS 20000u /* the timer is too coarse for shorter spans */
#define LEAST_HZ 1e7
#define MOST_HZ 1e11

struct clock_pair {
	uint32_t sm;
	uint64_t clock, ns;
};
ORDER(by_sm, struct clock_pair, UP(sm) UP(ns) UP(clock))

struct pairs {
	VEC(struct clock_pair) v;
	VEC(double) offsets; /* offsets of one SM */
};

static int scopes_compare_double(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return COMPARE(*a, *b);
}

static bool collect_pairs(const struct scope_file *f, uint32_t n_warps, struct pairs *p)
{
	for (uint32_t i = 0; i < n_warps; i++) {
		const struct scope_warp *k = &f->warps[i];

		if (k->begin_ns &&
			!VEC_PUSH(&p->v, (struct clock_pair){k->sm, k->begin_clock, k->begin_ns}))
			return false;
		if (k->end_ns &&
			!VEC_PUSH(&p->v, (struct clock_pair){k->sm, k->end_clock, k->end_ns}))
			return false;
	}
	SORT(p->v.v, p->v.n, by_sm);
	return VEC_RESERVE(&p->offsets, p->v.n + 1);
}

/* The frequency from the SM with the longest span; 0: no span is long enough. */
static double measured_hz(const struct pairs *p)
{
	uint64_t longest = 0, cyc = 0;

	for (size_t i = 0, k; i < p->v.n; i = k) {
		const struct clock_pair *a = &p->v.v[i], *b;

		for (k = i; k < p->v.n && p->v.v[k].sm == a->sm; k++)
			;
		b = &p->v.v[k - 1];
		if (b->ns - a->ns > longest && b->clock > a->clock) {
			longest = b->ns - a->ns;
			cyc = b->clock - a->clock;
		}
	}
	return longest >= LEAST_SPAN_NS ? (double)cyc / (double)longest * 1e9 : 0;
}

/* The smallest observed step of the timer; 0: none. */
static uint64_t timer_step(const struct pairs *p)
{
	uint64_t least = 0;

	for (size_t i = 1; i < p->v.n; i++) {
		uint64_t step = p->v.v[i].ns - p->v.v[i - 1].ns;

		if (p->v.v[i].sm == p->v.v[i - 1].sm && step && (!least || step < least))
			least = step;
	}
	return least;
}

static bool put_offsets(struct scope_file *f, struct pairs *p, double hz)
{
	uint64_t first_ns = UINT64_MAX;

	EACH (const struct clock_pair, c, p->v.v, p->v.n)
		if (c->ns < first_ns)
			first_ns = c->ns;
	for (size_t i = 0, k; i < p->v.n; i = k) {
		double middle;

		p->offsets.n = 0;
		for (k = i; k < p->v.n && p->v.v[k].sm == p->v.v[i].sm; k++)
			p->offsets.v[p->offsets.n++] =
				(double)(p->v.v[k].ns - first_ns) * hz / 1e9 -
				(double)(p->v.v[k].clock - p->v.v[i].clock);
		SORT(p->offsets.v, p->offsets.n, scopes_compare_double);
		middle = p->offsets.v[p->offsets.n / 2];
		if (fabs(middle) > 1e18)
			return false;
		f->offset_cyc[p->v.v[i].sm] = llround(middle) - (int64_t)p->v.v[i].clock;
	}
	return true;
}

/* The earliest begin becomes time 0. */
static bool scopes_settle(struct scope_file *f, uint32_t n_warps)
{
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (uint32_t i = 0; i < n_warps; i++) {
		int64_t at = (int64_t)f->warps[i].begin_clock + f->offset_cyc[f->warps[i].sm];
		int64_t end = (int64_t)f->warps[i].end_clock + f->offset_cyc[f->warps[i].sm];

		first = at < first ? at : first;
		last = end > last ? end : last;
	}
	for (uint32_t i = 0; n_warps && i < f->n_sms; i++)
		f->offset_cyc[i] -= first;
	return !n_warps || (last < INT64_MAX / 4 && first > INT64_MIN / 4);
}

static bool scopes_note_clock(
	struct trace *t, const struct scope_file *f, const struct pairs *p, bool is_measured)
{
	uint64_t step = timer_step(p);

	if (!t->meta.clock_hz_den)
		return trace_note(t, "unaligned-sms", f->path, INCORE_NO_OFFSET, 1,
			"no frequency is known: the SMs are laid so that each begins at 0");
	return trace_note_as(t, is_measured ? NOTE_INFO : NOTE_GUESSED, "aligned-sms", f->path,
		INCORE_NO_OFFSET, 1,
		"SMs are aligned by the timer that they share, whose smallest step was %llu ns, with %s clock of %.0f MHz",
		(unsigned long long)step, is_measured ? "their measured" : "the device's stated",
		(double)t->meta.clock_hz_num / 1e6);
}

/* Finds the frequency of the SMs and the offsets of their clocks, from the timer that they share. */
static bool scopes_align(struct scope_file *f, struct trace *t, struct incore_error *e)
{
	struct pairs p = {0};
	double hz;
	bool ok = collect_pairs(f, t->n_tracks, &p), is_measured;

	hz = ok ? measured_hz(&p) : 0;
	is_measured = hz >= LEAST_HZ && hz <= MOST_HZ;
	if (!is_measured)
		hz = (double)f->head.clock_khz * 1e3;
	if (hz >= LEAST_HZ && hz <= MOST_HZ) {
		t->meta.clock_hz_num = (uint64_t)llround(hz);
		t->meta.clock_hz_den = 1;
		t->meta.clock_source = is_measured ? "globaltimer" : "device";
	}
	if (!ok)
		err_nomem(e);
	else if (!put_offsets(f, &p, hz) || !scopes_settle(f, t->n_tracks))
		ok = err_file(
			e, "bad-value", f->path, 0, "the clocks of its warps are out of range");
	else
		ok = scopes_note_clock(t, f, &p, is_measured) || err_nomem(e);
	VEC_FREE(&p.v);
	VEC_FREE(&p.offsets);
	return ok;
}

/* --- scopes that nest become intervals -------------------------------------------------------- */

/*
 * Splits the events of a warp into intervals, each with its innermost scope. Scopes nest but slices
 * of a track do not: a scope that is interrupted by another becomes several pieces.
 */

#define CLOCK_BITS 44 /* bits in an event: the warp's begin has the others */

/* Reads the event at p of a warp whose previous time was `after`. */
static struct scope_event event_at(const uint8_t *p, uint64_t after)
{
	uint32_t y = le32(p + 4);
	uint64_t low = le32(p) | (uint64_t)(y & 0xfff) << 32,
		 mask = (UINT64_C(1) << CLOCK_BITS) - 1;
	uint64_t clock = (after & ~mask) | low;

	if (clock < after && after - clock > mask / 2)
		clock += mask + 1;
	return (struct scope_event){.clock = clock,
		.kind = (enum scope_kind)(y >> 12 & 7),
		.name = le32(p + 8),
		.value = le32(p + 12)};
}

static uint64_t scope_key(uint32_t outer, const struct scope_event *x)
{
	return (uint64_t)(outer + 1) << 32 | (uint64_t)x->kind << 16 | x->name;
}

struct scope_stack {
	uint32_t row[SCOPE_MOST_DEPTH];
	uint32_t n, n_deeper;
	uint64_t at; /* end of the pieces passed on so far */
};

static bool give_piece(const struct scope_walk *w, struct scope_stack *s, uint64_t to)
{
	bool ok = !s->n || to == s->at || w->piece(w->ctx, s->row[s->n - 1], s->at, to);

	s->at = to;
	return ok;
}

static bool begin_scope(struct scope_walk *w, struct scope_stack *s, const struct scope_event *x)
{
	uint32_t row;

	if (s->n == SCOPE_MOST_DEPTH) {
		s->n_deeper++;
		w->n_deep++;
		return true;
	}
	row = w->row(w->ctx, s->n ? s->row[s->n - 1] : NO_SCOPE, x);
	if (row == NO_SCOPE)
		return false;
	s->row[s->n++] = row;
	return true;
}

static void end_scope(struct scope_walk *w, struct scope_stack *s)
{
	if (s->n_deeper)
		s->n_deeper--;
	else if (s->n)
		s->n--;
	else
		w->n_cut++;
}

static bool take_instant(
	struct scope_walk *w, const struct scope_stack *s, const struct scope_event *x)
{
	uint32_t row = w->row(w->ctx, s->n ? s->row[s->n - 1] : NO_SCOPE, x);

	return row != NO_SCOPE && w->piece(w->ctx, row, x->clock, x->clock);
}

static bool scopes_take_event(
	struct scope_walk *w, struct scope_stack *s, const struct scope_event *x)
{
	if (x->kind == SCOPE_VALUE)
		return !w->value || w->value(w->ctx, x);
	if (!give_piece(w, s, x->clock))
		return false;
	if (x->kind == SCOPE_INSTANT)
		return take_instant(w, s, x);
	if (x->kind != SCOPE_END)
		return begin_scope(w, s, x);
	end_scope(w, s);
	return true;
}

static bool scopes_walk_warp(
	const struct scope_file *f, const struct scope_warp *k, struct scope_walk *w)
{
	const uint8_t *p = f->file.data + k->at + SCOPE_RECORD_BYTES;
	struct scope_stack s = {.at = k->begin_clock};
	uint64_t last = k->begin_clock;

	for (uint32_t i = 0; i < k->n_kept; i++, p += SCOPE_EVENT_BYTES) {
		struct scope_event x = event_at(p, last);

		if (x.clock < last || x.clock > k->end_clock) {
			w->n_back++;
			x.clock = x.clock < last ? last : k->end_clock;
		}
		last = x.clock;
		if (!scopes_take_event(w, &s, &x))
			return false;
	}
	w->n_open += s.n + s.n_deeper;
	return give_piece(w, &s, k->end_clock);
}

/* --- tracks ----------------------------------------------------------------------------------- */

/*
 * Reads every event once for code rows, slice counts and values; afterwards tracks are loaded on
 * demand.
 */

static uint8_t scopes_class_of(enum scope_kind kind)
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

struct scopes_building {
	struct scope_file *f;
	struct trace *t;
	const struct scope_warp *warp;
	struct scope_rows rows;
	VEC(struct value_at) values;
	uint32_t n_slices; /* of the warp */
	uint32_t n_long;
	bool is_name_bad;
};

static uint32_t scopes_add_row(void *ctx, uint32_t outer, const struct scope_event *x)
{
	struct scopes_building *b = ctx;
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
	struct scopes_building *b = ctx;

	(void)row;
	b->n_slices++;
	b->n_long += to - from > UINT32_MAX;
	return true;
}

static bool scopes_add_value(void *ctx, const struct scope_event *x)
{
	struct scopes_building *b = ctx;

	if (x->name >= b->f->head.n_names) {
		b->is_name_bad = true;
		return false;
	}
	return VEC_PUSH(
		&b->values, (struct value_at){x->name, b->warp->sm,
				    x->clock + (uint64_t)b->f->offset_cyc[b->warp->sm], x->value});
}

static bool walk_all(struct scopes_building *b, struct scope_walk *w, struct incore_error *e)
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
static const char *scopes_path_of(
	const struct scopes_building *b, uint32_t row, const char *const *paths)
{
	const struct scope_row *r = &b->rows.v.v[row];
	const char *name = b->f->head.names[r->name];

	return r->outer == NO_SCOPE ? name
				    : arena_printf(&b->t->arena, "%s/%s", paths[r->outer], name);
}

static bool scopes_put_rows(struct scopes_building *b)
{
	struct trace *t = b->t;
	size_t n = b->rows.v.n;
	const char **paths = arena_zalloc(&t->arena, n + 1, sizeof(*paths));

	t->code = arena_zalloc(&t->arena, n + 1, sizeof(*t->code));
	t->opcodes = arena_zalloc(&t->arena, n + 1, sizeof(*t->opcodes));
	if (!paths || !t->code || !t->opcodes)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		paths[i] = scopes_path_of(b, i, paths); /* outer rows come before inner ones */
		if (!paths[i])
			return false;
		t->opcodes[i] = paths[i];
		t->code[i] = (struct code_row){.text = paths[i],
			.text_len = (uint32_t)strlen(paths[i]),
			.opcode = i,
			.number = (int64_t)i + 1,
			.address = i,
			.inst_class = scopes_class_of(b->rows.v.v[i].kind),
			.source = ""};
	}
	t->n_code = t->n_opcodes = (uint32_t)n;
	return true;
}

static bool scopes_put_series(struct scopes_building *b, size_t from, size_t to)
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

static bool scopes_put_values(struct scopes_building *b)
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
		if (!scopes_put_series(b, i, k))
			return false;
	}
	return true;
}

static bool scopes_put_tracks(struct scopes_building *b)
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

static uint32_t scopes_find_row(void *ctx, uint32_t outer, const struct scope_event *x)
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
	struct scope_walk w = {.piece = load_piece, .row = scopes_find_row, .ctx = &l};

	d->stated_slices = k->n_slices;
	if (want & TRACK_NO_SLICES)
		return true;
	if (!track_data_reserve(d, k->n_slices))
		return err_nomem(e);
	return scopes_walk_warp(f, k, &w) ||
	       err_file(e, "changed", f->path, k->at, "the file is not the one that was opened");
}

static void scopes_close_file(void *ctx)
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
		const char *code, *text;
	} notes[] = {
		{w->n_cut, "scope-begin-lost",
			"scopes end whose begin was not kept: that part of their time is idle"},
		{w->n_open, "scope-open", "scopes had not ended when their warp did"},
		{w->n_back, "scope-time",
			"events are not in the order of time, or after the end of their warp"},
		{w->n_deep, "scope-depth",
			"scopes lie too deep: their time is of the one that they lie in"},
		{n_long, "scope-long",
			"scopes are longer than 2^32 cycles: the rest of their time is idle"},
	};

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (notes[i].n && !trace_note(t, notes[i].code, path, INCORE_NO_OFFSET, notes[i].n,
					  "%s", notes[i].text))
			return false;
	return true;
}

/* Builds rows, tracks and values in one pass over the events. */
static bool scopes_build(struct scope_file *f, struct trace *t, struct incore_error *e)
{
	struct scopes_building b = {.f = f, .t = t};
	struct scope_walk w = {
		.piece = count_piece, .value = scopes_add_value, .row = scopes_add_row, .ctx = &b};
	bool ok = walk_all(&b, &w, e);

	if (ok && !(scopes_put_rows(&b) && scopes_put_values(&b) && scopes_put_tracks(&b) &&
			  note_walk(t, &w, b.n_long, f->path)))
		ok = err_nomem(e);
	f->rows = b.rows.index;
	VEC_FREE(&b.rows.v);
	VEC_FREE(&b.values);
	t->loader_ctx = f;
	t->loader = (struct track_loader){.load = load_track, .close = scopes_close_file};
	return ok;
}

/* --- the format ------------------------------------------------------------------------------- */

#define HEAD "{\"incore_scopes\":"
#define MOST_SMS 65536u
#define MOST_CLOCK (UINT64_C(1) << 60)

static struct scope_warp warp_at(const uint8_t *p, uint64_t at, uint32_t ring)
{
	struct scope_warp k = {.sm = le32(p),
		.slot = le32(p + 4),
		.block = le32(p + 8),
		.warp = le32(p + 12),
		.begin_clock = le64(p + 16),
		.begin_ns = le64(p + 24),
		.end_clock = le64(p + 32),
		.end_ns = le64(p + 40),
		.n_events = le32(p + 48),
		.at = at};

	k.n_kept = k.n_events < ring ? k.n_events : ring;
	return k;
}

ORDER(by_place, struct scope_warp,
	UP(sm) UP(slot % 4) UP(slot) UP(begin_clock) UP(block) UP(warp) UP(at))

struct warps {
	VEC(struct scope_warp) v;
	uint64_t n_lost_events, n_unfinished;
};

static bool scopes_add_warp(
	struct scope_file *f, struct scope_warp k, struct warps *w, struct incore_error *e)
{
	if (k.sm >= MOST_SMS || k.begin_clock >= MOST_CLOCK || k.end_clock >= MOST_CLOCK)
		return err_file(
			e, "bad-value", f->path, k.at, "SM or clock of a warp is out of range");
	if (k.end_clock < k.begin_clock) { /* the warp or the kernel did not end */
		k.end_clock = k.begin_clock;
		k.end_ns = 0;
		w->n_unfinished++;
	}
	if (k.sm >= f->n_sms)
		f->n_sms = k.sm + 1;
	w->n_lost_events += k.n_events - k.n_kept;
	return VEC_PUSH(&w->v, k) || err_nomem(e);
}

/* Indexes the warps up to the end of the file. */
static bool index_warps(
	struct scope_file *f, size_t at, struct trace *t, struct warps *w, struct incore_error *e)
{
	uint32_t n = f->head.n_warps;

	for (uint32_t i = 0; i < n; i++) {
		struct scope_warp k;
		bool is_whole = f->file.size - at >= SCOPE_RECORD_BYTES;

		if (is_whole) {
			k = warp_at(f->file.data + at, at, f->head.ring);
			is_whole = (f->file.size - at - SCOPE_RECORD_BYTES) / SCOPE_EVENT_BYTES >=
				   k.n_kept;
		}
		if (!is_whole)
			return trace_note(t, "scopes-cut", f->path, at, n - i,
				       "the file ends before the last of its warps") ||
			       err_nomem(e);
		if (!scopes_add_warp(f, k, w, e))
			return false;
		at += SCOPE_RECORD_BYTES + (size_t)k.n_kept * SCOPE_EVENT_BYTES;
	}
	if (at != f->file.size)
		return trace_note(t, "scopes-more", f->path, at, f->file.size - at,
			       "bytes follow the last warp") ||
		       err_nomem(e);
	return true;
}

/* Sorts the warps in track order and numbers the warps of a slot. */
static bool place_warps(struct scope_file *f, struct trace *t, struct warps *w)
{
	SORT(w->v.v, w->v.n, by_place);
	for (size_t i = 1; i < w->v.n; i++)
		if (w->v.v[i].sm == w->v.v[i - 1].sm && w->v.v[i].slot == w->v.v[i - 1].slot)
			w->v.v[i].run = w->v.v[i - 1].run + 1;
	f->warps = arena_memdup(&t->arena, w->v.v, (w->v.n + 1) * sizeof(*w->v.v));
	f->offset_cyc = arena_zalloc(&t->arena, (size_t)f->n_sms + 1, sizeof(*f->offset_cyc));
	t->n_tracks = (uint32_t)w->v.n;
	return f->warps && f->offset_cyc;
}

static void scopes_put_shape(struct trace_launch *l, const struct scope_head *h)
{
	l->workgroups = l->waves = 1;
	for (int i = 0; i < 3; i++) {
		l->workgroup[i] = h->block[i];
		l->grid[i] = (int64_t)h->block[i] * h->grid[i];
	}
	if (h->grid[0] > INT32_MAX || h->grid[1] > UINT16_MAX || h->grid[2] > UINT16_MAX ||
		h->block[0] > 1024 || h->block[1] > 1024 || h->block[2] > 64) {
		l->workgroups = l->waves = NO_VALUE; /* implausible launch: nothing is multiplied */
		return;
	}
	l->workgroups = (int64_t)h->grid[0] * h->grid[1] * h->grid[2];
	l->waves = ((int64_t)h->block[0] * h->block[1] * h->block[2] + 31) / 32;
	l->waves = l->workgroups < INT64_MAX / 4096 ? l->workgroups * l->waves : NO_VALUE;
}

static bool scopes_put_meta(const struct scope_file *f, struct trace *t)
{
	struct trace_meta *m = &t->meta;

	m->vendor = VENDOR_NVIDIA;
	m->evidence = EVIDENCE_INSTRUMENTED;
	m->format_version = "1";
	m->kernel = f->head.kernel;
	m->arch = arena_printf(&t->arena, "sm_%u", f->head.arch);
	m->arch_source = "compute capability of the device";
	m->clock_quantum = 1;
	m->machine.product = f->head.device;
	m->machine.cus = f->head.sms;
	m->machine.wave_size = 32;
	m->machine.max_clock_mhz = f->head.clock_khz / 1000;
	scopes_put_shape(&m->launch, &f->head);
	t->levels[0] = "gpu";
	t->levels[1] = "sm";
	t->levels[2] = "sub";
	t->levels[3] = "slot";
	t->levels[4] = "warp";
	t->clocks = arena_zalloc(&t->arena, 1, sizeof(*t->clocks));
	if (!t->clocks || !m->arch)
		return false;
	t->n_clocks = 1;
	t->clocks[0].is_aligned = true;
	t->reference_clock = 0;
	return true;
}

static bool note_losses(const struct scope_file *f, const struct warps *w, struct trace *t)
{
	if (f->head.n_lost_warps &&
		!trace_note(t, "warps-lost", f->path, INCORE_NO_OFFSET, f->head.n_lost_warps,
			"warps came when every ring was taken: open with room for more"))
		return false;
	if (w->n_unfinished &&
		!trace_note(t, "warps-unfinished", f->path, INCORE_NO_OFFSET, w->n_unfinished,
			"warps did not finish: only their start is known"))
		return false;
	return !w->n_lost_events ||
	       trace_note(t, "events-lost", f->path, INCORE_NO_OFFSET, w->n_lost_events,
		       "events were overwritten by later ones of their warp: open with longer rings");
}

static bool scopes_build_trace(struct scope_file *f, struct trace *t, struct incore_error *e)
{
	struct warps w = {0};
	size_t at = 0;
	bool ok = scopes_read_head(f, t, &at, e);

	if (ok && !f->head.ring)
		ok = err_file(e, "bad-value", f->path, 0,
			"the recorder had rings without room for an event, so nothing was recorded");
	ok = ok && index_warps(f, at, t, &w, e);
	if (ok && !(VEC_RESERVE(&w.v, w.v.n + 1) && place_warps(f, t, &w) &&
			  scopes_put_meta(f, t) && note_losses(f, &w, t)))
		ok = err_nomem(e);
	VEC_FREE(&w.v);
	ok = ok && scopes_align(f, t, e);
	if (ok) {
		t->clocks[0].hz_num = t->meta.clock_hz_num;
		t->clocks[0].hz_den = t->meta.clock_hz_den;
	}
	return ok && scopes_build(f, t, e);
}

static bool scopes_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct scope_file *f = arena_zalloc(&t->arena, 1, sizeof(*f));

	if (!f)
		return err_nomem(e);
	f->path = t->meta.origin;
	if (!import_load(o, &f->file, path, e))
		return false;
	if (scopes_build_trace(f, t, e))
		return true;
	if (!t->loader.close) /* else the trace owns it already */
		file_unload(&f->file);
	return false;
}

static const struct signature scopes_signs[] = {
	{.begins = HEAD, .min_bytes = sizeof(HEAD) + 1, .score = 100},
	{0},
};

const struct import_ops import_scopes = {
	.name = "scopes",
	.summary = "what a CUDA kernel recorded about itself with incore/cuda.h (.scopes)",
	.looks_for = "a file that incore/cuda.h wrote",
	.signs = scopes_signs,
	.read = scopes_read,
	.lost = import_lost_noted, /* noted while reading */
};
