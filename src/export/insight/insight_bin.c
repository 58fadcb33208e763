/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight_bin.c: writes visualize_data.bin, the container of tables and sources. Parts: tables of
 * the producer; source lines; tables of instructions and of lines; the container.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/search.h"
#include "base/vec.h"
#include "codec/insight_blocks.h"
#include "codec/json_writer.h"
#include "codec/trace_events.h"
#include "export/insight/insight.h"
#include "trace/trace.h"

#define INSIGHT_ANY_UNIT (UINT32_MAX - 1) /* a stated row that names no core */

/* A cell; NULL if it is empty. */
static const char *insight_stated_cell(const struct insight_stated *d, uint32_t row, int column)
{
	return column < 0 ? NULL : d->k->cells[(size_t)row * d->k->n_cols + (unsigned)column];
}

/* --- tables of the producer ------------------------------------------------------------------- */

/*
 * Finds which rows of the producer's tables are the same instruction or line, the core of each, and
 * the type of each column. The trace keeps the cells as text, but not the types: a column gets the
 * narrowest type that holds all its cells.
 */

#define MAX_STATED_CORES 256 /* without slices; each costs a cell per instruction */

/* Index of the column of that name; -1: no such column. */
static int insight_stated_column(const struct insight_stated *d, const char *name)
{
	for (uint32_t i = 0; d->k && i < d->k->n_cols; i++)
		if (strcmp(d->k->cols[i], name) == 0)
			return (int)i;
	return -1;
}

/* --- types --- */

/* Columns of JSON objects and lists that the viewer draws. */
static const struct {
	const char *name;
	enum insight_dtype type;
} json_columns[] = {
	{"GPR Status", INSIGHT_JSON},
	{"Address Range", INSIGHT_JSON},
	{"Stall Sampling(All Samples)", INSIGHT_DETAILS},
	{"Stall Sampling(Not Issue)", INSIGHT_DETAILS},
};

/* Counts the items of a list: all, strings, and ints of 32 bits. False: the JSON is damaged. */
static bool count_items(struct json_reader *r, size_t n[3])
{
	struct incore_error ignored = {0};
	bool ok;

	n[0] = n[1] = n[2] = 0;
	for (json_enter_array(r); json_next_item(r); n[0]++) {
		enum json_type type = json_peek(r);
		const char *from = r->p;
		uint64_t v;

		json_skip(r);
		n[1] += type == JSON_STRING;
		n[2] += type == JSON_NUMBER &&
			str_to_u64((struct str){from, (size_t)(r->p - from)}, &v) && v <= INT32_MAX;
	}
	ok = json_finish(r, &ignored);
	incore_error_clear(&ignored);
	return ok;
}

/* The type of a cell that the reader kept whole: a list of n_cores strings or ints is a cell per
 * core, any other list is JSON. INSIGHT_HIDDEN: the cell is not a list. */
static enum insight_dtype type_of_list(const char *cell, size_t n_cores)
{
	struct strbuf padded = {0};
	struct json_reader r;
	size_t n[3];
	bool ok = *cell == '[';

	if (ok && sb_puts(&padded, cell) && sb_add(&padded, (char[JSON_PAD]){0}, JSON_PAD)) {
		json_init(&r, padded.p, padded.n - JSON_PAD, NULL, 0);
		ok = count_items(&r, n);
		json_deinit(&r);
	} else {
		ok = false;
	}
	sb_free(&padded);
	if (!ok)
		return INSIGHT_HIDDEN;
	return n[0] && n[0] == n_cores && n[1] == n[0]	 ? INSIGHT_TEXT
	       : n[0] && n[0] == n_cores && n[2] == n[0] ? INSIGHT_INT
							 : INSIGHT_JSON;
}

static enum insight_dtype type_of_column(
	const struct insight_stated *d, uint32_t column, size_t n_cores)
{
	struct str name = str_of(d->k->cols[column]);
	bool is_percent = str_ends(name, " Percentage") || str_ends(name, " Hit Rate");
	enum insight_dtype type = is_percent ? INSIGHT_PERCENT : INSIGHT_INT;
	bool is_json = true, has_list = false, has_text = false;
	double v;

	for (size_t i = 0; i < sizeof(json_columns) / sizeof(*json_columns); i++)
		if (str_is(name, json_columns[i].name))
			return json_columns[i].type;
	for (uint32_t i = 0; i < d->k->n_rows; i++) {
		const char *cell = insight_stated_cell(d, i, (int)column);
		bool is_number = cell && trace_event_number(str_of(cell), &v);
		enum insight_dtype list =
			cell && !is_number ? type_of_list(cell, n_cores) : INSIGHT_HIDDEN;

		if (!cell)
			continue;
		is_json &= list == INSIGHT_JSON;
		has_list |= list == INSIGHT_INT;
		has_text |= !is_number && list != INSIGHT_INT;
		if (is_number && !is_percent && strpbrk(cell, ".eE"))
			type = INSIGHT_FLOAT;
	}
	if (has_text)
		return is_json ? INSIGHT_JSON : INSIGHT_TEXT;
	return has_list && type != INSIGHT_INT ? INSIGHT_TEXT : type;
}

/* --- rows --- */

static bool insight_stated_is_same(
	const struct insight_stated *d, uint32_t a, uint32_t b, int column)
{
	const char *x = insight_stated_cell(d, a, column), *y = insight_stated_cell(d, b, column);

	return x == y || (x && y && strcmp(x, y) == 0);
}

/* Groups the rows of each instruction or line, which follow each other, one per core. A row whose
 * address or line is not a number is left out and counted. */
static bool insight_stated_make_groups(
	struct insight *s, struct insight_stated *d, const char *number)
{
	int core = insight_stated_column(d, "Core"), source = insight_stated_column(d, "Source");
	int at = insight_stated_column(d, number);
	struct insight_group *last = NULL;

	for (uint32_t i = 0; i < d->k->n_rows; i++) {
		const char *cell = insight_stated_cell(d, i, at);
		struct insight_group g = {.first = i, .n = 1, .source = NO_SOURCE};

		if (last && last->first + last->n == i &&
			insight_stated_is_same(d, last->first, i, at) &&
			insight_stated_is_same(d, last->first, i, source) &&
			!insight_stated_is_same(d, last->first, i, core)) {
			last->n++;
		} else if (!cell || !str_to_u64(str_of(cell), &g.number)) {
			s->n_stated_left++;
		} else if (!VEC_PUSH(&d->groups, g)) {
			return false;
		} else {
			last = &d->groups.v[d->groups.n - 1];
		}
	}
	return true;
}

/* Finds the unit of a row: that of its core; without a core, any. A core without slices gets a unit
 * that appears only in the tables. False on lack of memory. */
static bool insight_stated_find_unit(struct insight *s, const char *core, uint32_t *unit)
{
	struct insight_unit u = {.name = core, .said = str_of(core)};
	struct ascend_unit known;

	*unit = core ? INSIGHT_NO_UNIT : INSIGHT_ANY_UNIT;
	for (uint32_t i = 0; core && i < s->units.n; i++)
		if (str_is(s->units.v[i].said, core)) {
			*unit = i;
			return true;
		}
	if (!core || s->selection)
		return true;
	if (ascend_unit_of(u.said, &known)) {
		u.core = known.core;
		u.unit = known.unit;
		u.kind = known.kind;
	}
	if (!ascend_unit_of(u.said, &known) || s->units.n >= s->n_drawn + MAX_STATED_CORES) {
		s->n_stated_left++;
		return true;
	}
	*unit = (uint32_t)s->units.n;
	return VEC_PUSH(&s->units, u);
}

static bool insight_stated_open_table(
	struct insight *s, struct insight_stated *d, const char *name, const char *number)
{
	int core;

	d->k = trace_find_table(s->t, name);
	if (!d->k)
		return true;
	core = insight_stated_column(d, "Core");
	d->dtype = arena_zalloc(&s->arena, (size_t)d->k->n_cols + 1, sizeof(*d->dtype));
	d->unit = arena_zalloc(&s->arena, (size_t)d->k->n_rows + 1, sizeof(*d->unit));
	if (!d->dtype || !d->unit)
		return false;
	for (uint32_t i = 0; i < d->k->n_rows; i++)
		if (!insight_stated_find_unit(s, insight_stated_cell(d, i, core), &d->unit[i]))
			return false;
	return insight_stated_make_groups(s, d, number);
}

static void set_types(const struct insight *s, struct insight_stated *d)
{
	for (uint32_t i = 0; d->k && i < d->k->n_cols; i++)
		d->dtype[i] = type_of_column(d, i, s->units.n);
}

struct ordered_unit {
	uint32_t rank, core, unit, at;
};

ORDER(unit_order, struct ordered_unit, UP(rank) UP(core) UP(unit) UP(at))

/* Orders the cores as the producer does, for the page opens with the first: as it lists them if
 * that is not by number. */
static bool order_units(struct insight *s)
{
	const struct named_table *k = trace_find_table(s->t, ASCEND_TABLE_CORES);
	struct ordered_unit *v = mem_zalloc(s->units.n + 1, sizeof(*v));

	s->order = arena_zalloc(&s->arena, s->units.n + 1, sizeof(*s->order));
	for (uint32_t i = 0; v && i < s->units.n; i++) {
		const struct insight_unit *u = &s->units.v[i];

		v[i] = (struct ordered_unit){0, u->core, u->unit, i};
		while (k && v[i].rank < k->n_rows &&
			!(k->cells[v[i].rank] && str_is(u->said, k->cells[v[i].rank])))
			v[i].rank++;
	}
	if (v)
		SORT(v, s->units.n, unit_order);
	for (uint32_t i = 0; v && s->order && i < s->units.n; i++)
		s->order[i] = v[i].at;
	mem_free(v);
	return v && s->order;
}

static source_idx insight_find_source(const struct insight *s, struct str path)
{
	source_idx i = 0;

	while (i < s->t->n_sources && !str_is(path, s->t->sources[i].path))
		i++;
	return i < s->t->n_sources ? i : NO_SOURCE;
}

/* Finds the source files of stated lines. The lines of a file follow each other. */
static void find_sources(struct insight *s)
{
	struct insight_stated *d = &s->stated_lines;
	int column = insight_stated_column(d, "Source");
	const char *last = NULL;
	source_idx found = NO_SOURCE;

	EACH (struct insight_group, g, d->groups.v, d->groups.n) {
		const char *path = insight_stated_cell(d, g->first, column);

		if (path && (!last || strcmp(path, last) != 0))
			found = insight_find_source(s, str_of(path));
		last = path;
		if (path && found != NO_SOURCE && g->number <= UINT32_MAX)
			g->source = found;
		else
			s->n_stated_left += g->n;
	}
}

bool insight_read_stated(struct insight *s)
{
	if (!insight_stated_open_table(s, &s->instr, ASCEND_TABLE_INSTR, "Address") ||
		!insight_stated_open_table(s, &s->stated_lines, ASCEND_TABLE_LINES, "Line") ||
		!order_units(s))
		return false;
	set_types(s, &s->instr);
	set_types(s, &s->stated_lines);
	find_sources(s);
	return true;
}

/* --- source lines ----------------------------------------------------------------------------- */

/*
 * The source lines that have figures: those in the call chain of an instruction, and those that the
 * producer stated. A line outside of the toolkit counts every instruction whose chain contains it,
 * once.
 */

#define SHOWN_LINES 10000u /* of a file; the viewer shows no more */

/* Sorted so that stated figures of a line come after its instructions. */
ORDER(use_cmp, struct insight_use, UP(source) UP(line) UP(code))

/* Is a row of code written to the table? Without a selection also if it was not executed. */
static bool insight_is_written(const struct insight *s, code_idx code)
{
	bool is_hit = !s->selection;

	for (size_t i = 0; i < s->units.n && !is_hit; i++)
		is_hit = s->cells[(size_t)code * s->units.n + i].hit != 0;
	return is_hit;
}

static bool add_uses(struct insight *s)
{
	for (code_idx c = 0; c < s->t->n_code; c++) {
		const struct code_row *r = &s->t->code[c];

		for (uint16_t i = 0; insight_is_written(s, c) && i < r->n_frames; i++) {
			const struct frame *f = &s->t->frames[r->first_frame + i];

			if (f->source < s->t->n_sources &&
				!strstr(s->t->sources[f->source].path, "ascend-toolkit") &&
				!VEC_PUSH(&s->uses,
					(struct insight_use){f->source, f->line, c, NULL}))
				return false;
		}
	}
	EACH (const struct insight_group, g, s->stated_lines.groups.v, s->stated_lines.groups.n)
		if (g->source != NO_SOURCE &&
			!VEC_PUSH(&s->uses,
				(struct insight_use){g->source, (uint32_t)g->number, NO_CODE, g}))
			return false;
	return true;
}

/* --- insight_lines.c: source lines, and which sources have any --- */
static bool insight_find_lines(struct insight *s)
{
	size_t n = 0;

	s->has_block = arena_zalloc(&s->arena, (size_t)s->t->n_sources + 1, 1);
	if (!s->has_block || !add_uses(s))
		return false;
	for (source_idx i = 0; i < s->t->n_sources; i++)
		s->has_block[i] = s->t->sources[i].text_len != 0;
	SORT(s->uses.v, s->uses.n, use_cmp);
	EACH (const struct insight_use, u, s->uses.v, s->uses.n) {
		const struct insight_use *last = n ? &s->uses.v[n - 1] : NULL;
		bool is_new = !last || last->source != u->source || last->line != u->line;

		/* With a selection, a line without selected instructions is left out, even if
		 * stated. */
		if ((last && use_cmp(u, last) == 0) || (is_new && u->stated && s->selection))
			continue;
		s->has_block[u->source] = 1;
		s->n_lines += is_new;
		s->uses.v[n++] = *u;
	}
	s->uses.n = n;
	return true;
}

/* Writes placeholder lines for a missing text, up to the last line with figures that is shown. */
static bool insight_placeholder(const struct insight *s, source_idx i, struct strbuf *out)
{
	size_t lo = 0, hi = s->uses.n;
	uint32_t line = 0; /* last line written */

	BISECT(lo, hi, k, s->uses.v[k].source < i);
	for (; lo < s->uses.n && s->uses.v[lo].source == i; lo++) {
		if (s->uses.v[lo].line <= line || s->uses.v[lo].line > SHOWN_LINES)
			continue;
		while (++line < s->uses.v[lo].line)
			sb_putc(out, '\n');
		sb_printf(out, "// line %u: the capture has no text of this file\n", line);
	}
	if (!line)
		sb_putc(out, '\n');
	return !out->failed;
}

/* --- tables of instructions and of lines ------------------------------------------------------ */

/*
 * API_INSTR (a row per instruction) and API_FILE (a row per source line), a cell per core, or one
 * for all cores if they are equal. Figures that the producer stated have its column names; sums
 * over the trace have our own, and the producer's names only for rows that it did not state. Every
 * figure is a 32-bit int: larger ones are clamped, as the producer does.
 */

#define NO_ROW UINT32_MAX
#define MAX_ROWS 1000000u

/* Does the viewer show such a table? */
static bool is_shown_whole(const struct insight *s, const struct strbuf *b, uint64_t n_rows)
{
	return b->n < s->most_bytes && n_rows <= MAX_ROWS;
}

static const struct figure {
	const char *name;
	size_t at; /* offset in an insight_cell */
	bool is_ours;
	bool is_beside; /* our sum, shown only if there is a table of the producer */
	double none;
} figures[] = {
	{"Cycles", offsetof(struct insight_cell, cycles), false, false, 0},
	{"Instructions Executed", offsetof(struct insight_cell, hit), false, false, 0},
	{"Process Bytes", offsetof(struct insight_cell, bytes), false, false, -1},
	{"Busy Cycles", offsetof(struct insight_cell, busy), true, false, 0},
	{"Cache Stall Cycles", offsetof(struct insight_cell, cache), true, false, 0},
	{"Queue Stall Cycles", offsetof(struct insight_cell, queue), true, false, 0},
	{"Wait Cycles", offsetof(struct insight_cell, wait), true, false, 0},
	{"Trace Cycles", offsetof(struct insight_cell, cycles), true, true, 0},
	{"Trace Executions", offsetof(struct insight_cell, hit), true, true, 0},
};
#define FIGURES (sizeof(figures) / sizeof(*figures))

/* Is a stated column copied unchanged? The others are written separately. */
static bool is_copied(const char *name)
{
	static const char *const names[] = {"Core", "Address", "AscendC Inner Code", "Source",
		"Pipe", "Line", "Address Range", "Evidence"};

	for (size_t i = 0; i < FIGURES; i++)
		if (strcmp(name, figures[i].name) == 0)
			return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			return false;
	return true;
}

struct row_size {
	uint64_t cycles;
	size_t bytes;
	uint32_t at;
};

/* A table being written, and its current row. */
struct insight_tables_table {
	struct insight *s;
	const struct insight_stated *d;
	struct json_writer w;
	const struct insight_group *stated; /* or NULL */
	struct insight_cell *sum;	    /* by unit: sums over the trace */
	uint32_t *row_of;		    /* by unit: row of the stated table, or NO_ROW */
	double *list;			    /* by unit */
	bool is_stated_only;		    /* without our columns: they do not fit */
	const uint8_t *is_left;		    /* by row: it is not written; NULL: all are */
	VEC(struct row_size) sizes;	    /* of the rows */
};

static bool insight_tables_table_open(struct insight_tables_table *x, struct insight *s,
	const struct insight_stated *d, struct strbuf *out)
{
	size_t n = s->units.n + 1;

	*x = (struct insight_tables_table){.s = s, .d = d};
	x->sum = arena_zalloc(&s->arena, n, sizeof(*x->sum));
	x->row_of = arena_zalloc(&s->arena, n, sizeof(*x->row_of));
	x->list = arena_zalloc(&s->arena, n, sizeof(*x->list));
	json_w_buf(&x->w, out, 0);
	json_w_object(&x->w);
	json_w_kv_array(&x->w, "Cores");
	for (size_t i = 0; i < s->units.n; i++)
		json_w_cstr(&x->w, s->units.v[s->order[i]].name);
	json_w_end(&x->w);
	return x->sum && x->row_of && x->list;
}

/* --- cells --- */

static void insight_tables_put_number(struct json_writer *w, double v, bool is_float)
{
	/* without a decimal point the viewer shows 0 */
	const char *point = v > -1e9 && v < 1e9 && v == (double)(int64_t)v ? ".0" : "";
	char text[40];

	if (!is_float) {
		json_w_i64(w, v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int64_t)v);
		return;
	}
	snprintf(text, sizeof(text), "%.15g%s", v, point);
	if (!strpbrk(text, ".e") || strtod(text, NULL) != v)
		snprintf(text, sizeof(text), "%.17e", v);
	json_w_raw(w, str_of(text));
}

/* Writes x->list, or a single number if all are equal. */
static void insight_tables_put_list(struct insight_tables_table *x, const char *name, bool is_float)
{
	size_t n = x->s->units.n;
	bool is_one = n > 0;

	for (size_t i = 1; i < n; i++)
		is_one &= x->list[i] == x->list[0];
	json_w_key(&x->w, name);
	if (!is_one)
		json_w_array(&x->w);
	for (size_t i = 0; i < (is_one ? 1 : n); i++)
		insight_tables_put_number(&x->w, x->list[x->s->order[i]], is_float);
	if (!is_one)
		json_w_end(&x->w);
}

/* The stated value of a column for a unit; `none` if there is no value. */
static double stated_number(
	const struct insight_tables_table *x, size_t unit, int column, double none)
{
	uint32_t row = x->row_of[unit];
	const char *cell = row == NO_ROW ? NULL : insight_stated_cell(x->d, row, column);
	double v;

	return cell && trace_event_number(str_of(cell), &v) ? v : none;
}

/* The first non-empty cell of a column for the current row, or NULL. */
static const char *stated_text(const struct insight_tables_table *x, const char *name)
{
	int column = insight_stated_column(x->d, name);
	const char *cell = NULL;

	for (uint32_t i = 0; x->stated && i < x->stated->n && !cell; i++)
		cell = insight_stated_cell(x->d, x->stated->first + i, column);
	return cell;
}

static void insight_tables_put_stated(struct insight_tables_table *x, uint32_t column)
{
	const char *name = x->d->k->cols[column], *cell = stated_text(x, name);
	enum insight_dtype type = x->d->dtype[column];

	if (cell && (type == INSIGHT_TEXT || type == INSIGHT_INT) &&
		type_of_list(cell, x->s->units.n) == type) {
		json_w_key(&x->w, name);
		json_w_raw(&x->w, str_of(cell));
		return;
	}
	if (type == INSIGHT_INT || type == INSIGHT_FLOAT || type == INSIGHT_PERCENT) {
		for (size_t i = 0; i < x->s->units.n; i++)
			x->list[i] = stated_number(x, i, (int)column, -1);
		insight_tables_put_list(x, name, type != INSIGHT_INT);
		return;
	}
	json_w_key(&x->w, name);
	if (type == INSIGHT_TEXT)
		json_w_cstr(&x->w, cell ? cell : "");
	else
		json_w_raw(&x->w, cell ? str_of(cell) : STR("[]"));
}

/* Writes a figure: the producer's if it stated the row, otherwise the sum over the trace. */
static void put_figure(struct insight_tables_table *x, const struct figure *k)
{
	int column = k->is_ours || !x->stated ? -1 : insight_stated_column(x->d, k->name);

	for (size_t i = 0; i < x->s->units.n; i++) {
		uint64_t v;

		memcpy(&v, (const char *)&x->sum[i] + k->at, sizeof(v));
		x->list[i] = column >= 0 ? stated_number(x, i, column, k->none)
			     : v	 ? (double)v
					 : k->none;
	}
	insight_tables_put_list(x, k->name, false);
}

static bool is_shown(const struct insight_tables_table *x, const struct figure *k)
{
	return k->is_ours ? !x->is_stated_only && (!k->is_beside || x->d->k) : true;
}

/* Writes the columns common to both tables, or their types under the same names. */
static void insight_tables_put_columns(struct insight_tables_table *x, bool is_types)
{
	for (size_t i = 0; i < FIGURES; i++) {
		if (!is_shown(x, &figures[i]))
			continue;
		if (is_types)
			json_w_kv_i64(&x->w, figures[i].name, INSIGHT_INT);
		else
			put_figure(x, &figures[i]);
	}
	for (uint32_t i = 0; x->d->k && i < x->d->k->n_cols; i++) {
		if (!is_copied(x->d->k->cols[i]))
			continue;
		if (is_types)
			json_w_kv_i64(&x->w, x->d->k->cols[i], x->d->dtype[i]);
		else
			insight_tables_put_stated(x, i);
	}
}

/* --- rows --- */

/* Starts a row: finds what is stated for each core, and clears the sums. */
static void insight_tables_begin_row(struct insight_tables_table *x, const struct insight_group *g)
{
	size_t n = x->s->units.n;

	x->stated = g;
	memset(x->sum, 0, n * sizeof(*x->sum));
	for (size_t i = 0; i < n; i++)
		x->row_of[i] = g && x->d->unit[g->first] == INSIGHT_ANY_UNIT ? g->first : NO_ROW;
	for (uint32_t i = 0; g && i < g->n; i++)
		if (x->d->unit[g->first + i] < n)
			x->row_of[x->d->unit[g->first + i]] = g->first + i;
}

static void insight_tables_add_code(struct insight_tables_table *x, code_idx code)
{
	for (uint32_t i = 0; i < x->s->units.n; i++) {
		const struct insight_cell *c = &x->s->cells[(size_t)code * x->s->units.n + i];
		struct insight_cell *sum = &x->sum[i];

		sum->hit += c->hit;
		sum->cycles += c->cycles;
		sum->busy += c->busy;
		sum->wait += c->wait;
		sum->cache += c->cache;
		sum->queue += c->queue;
		sum->bytes += insight_row_bytes(x->s, code, i);
		sum->pipe = c->hit ? c->pipe : sum->pipe;
	}
}

/* Finds the source line of a row: its innermost frame outside of the toolkit. */
static const struct frame *inner_frame(const struct insight *s, const struct code_row *r)
{
	const struct frame *f = r->n_frames ? &s->t->frames[r->first_frame] : NULL;

	for (uint16_t i = 0; i < r->n_frames; i++)
		if (f[i].source < s->t->n_sources &&
			!strstr(s->t->sources[f[i].source].path, "ascend-toolkit"))
			return &f[i];
	return f;
}

/* Finds the source line that the producer states. */
static bool stated_frame(const struct insight_tables_table *x, struct frame *out)
{
	const char *text = stated_text(x, "AscendC Inner Code");
	struct str place = text ? str_of(text) : STR("");
	ptrdiff_t colon = str_rfind_char(place, ':');
	uint64_t line;

	if (colon <= 0 || !str_to_u64(str_sub(place, (size_t)colon + 1, place.n), &line) ||
		line > UINT32_MAX)
		return false;
	*out = (struct frame){
		insight_find_source(x->s, str_sub(place, 0, (size_t)colon)), (uint32_t)line};
	return true;
}

/* Writes the source line of a row, which the trace or, if it has none, the producer states. */
static bool put_inner(struct insight_tables_table *x, const struct code_row *r)
{
	struct insight *s = x->s;
	const struct frame *f = r ? inner_frame(s, r) : NULL;
	struct frame stated;
	struct strbuf b = {0};
	bool ok;

	if (!f && stated_frame(x, &stated))
		f = &stated;
	if (f && f->source < s->t->n_sources && s->has_block[f->source])
		sb_printf(&b, "%s:%u", s->paths[f->source], f->line);
	else
		s->n_places_left += f != NULL;
	json_w_kv_cstr(&x->w, "AscendC Inner Code", b.p ? b.p : "");
	ok = !b.failed; /* before sb_free(), which resets `failed` */
	sb_free(&b);
	return ok;
}

static const char *pipe_of_row(const struct insight_tables_table *x, char text[16])
{
	const char *stated = stated_text(x, "Pipe");

	for (size_t i = 0; !stated && i < x->s->units.n; i++)
		if (x->sum[i].hit)
			return ascend_pipe_name(x->sum[i].pipe, text);
	return stated ? stated : "";
}

/* Writes a row; r: the code row with its source position, or NULL. */
static bool insight_tables_put_row(
	struct insight_tables_table *x, uint64_t address, const struct code_row *r)
{
	const char *source = stated_text(x, "Source");
	char buf[24];
	bool ok;

	snprintf(buf, sizeof(buf), "0x%llx", (unsigned long long)address);
	json_w_object(&x->w);
	json_w_kv_cstr(&x->w, "Address", buf);
	ok = put_inner(x, r);
	insight_tables_put_columns(x, false);
	if (!x->is_stated_only)
		json_w_kv_cstr(&x->w, "Evidence", evidence_name(x->s->t->meta.evidence));
	json_w_kv_cstr(&x->w, "Pipe", pipe_of_row(x, (char[16]){0}));
	json_w_kv_str(&x->w, "Source",
		source || !r ? str_of(source) : (struct str){r->text, r->text_len});
	json_w_end(&x->w);
	return ok;
}

/* --- instructions --- */

struct instr_use {	/* a code row, and the stated instruction that it belongs to */
	uint32_t group; /* NO_ROW: not stated */
	code_idx code;
};

ORDER(instr_cmp, struct instr_use, UP(group) UP(code))

/* Key made of address and opcode; without operands, as those of a flag are not stated. */
static uint64_t instr_key(uint64_t address, struct str text)
{
	ptrdiff_t blank = str_find(text, " ");

	return hash_bytes(text.p, blank > 0 ? (size_t)blank : text.n, hash_mix64(address));
}

static bool group_instructions(struct insight_tables_table *x, struct instr_use *v, size_t *n)
{
	const struct trace *t = x->s->t;
	int source = insight_stated_column(x->d, "Source");
	struct u64_map at = {0};
	bool ok = true;

	*n = 0;
	for (size_t i = 0; ok && i < x->d->groups.n; i++) {
		const struct insight_group *g = &x->d->groups.v[i];
		const char *text = insight_stated_cell(x->d, g->first, source);
		uint64_t *k = u64_map_at(&at, instr_key(g->number, str_of(text ? text : "")));

		ok = k != NULL;
		if (ok && !*k)
			*k = (uint64_t)i + 1;
	}
	for (code_idx i = 0; ok && i < t->n_code; i++) {
		uint64_t *k =
			u64_map_find(&at, instr_key(t->code[i].address, insight_opcode(x->s, i)));

		if (!t->code[i].is_label && insight_is_instruction(x->s, i))
			v[(*n)++] = (struct instr_use){k ? (uint32_t)*k - 1 : NO_ROW, i};
	}
	u64_map_deinit(&at);
	SORT(v, *n, instr_cmp);
	return ok;
}

/* The cycles of the current row, as stated, else as summed. */
static uint64_t row_cycles(const struct insight_tables_table *x)
{
	int column = x->stated ? insight_stated_column(x->d, "Cycles") : -1;
	uint64_t sum = 0;

	for (size_t i = 0; i < x->s->units.n; i++) {
		double v = stated_number(x, i, column, 0);

		sum += column < 0 ? x->sum[i].cycles : v > 0 && v < 1e15 ? (uint64_t)v : 0;
	}
	return sum;
}

/* Writes a row unless it is left out, and keeps its size. */
static bool put_sized_row(struct insight_tables_table *x, uint32_t at,
	const struct insight_group *stated, const struct code_row *r)
{
	struct row_size size = {row_cycles(x), x->w.sb->n, at};

	if (x->is_left && x->is_left[at])
		return true;
	if (!insight_tables_put_row(x, stated ? stated->number : r ? r->address : 0, r))
		return false;
	size.bytes = x->w.sb->n - size.bytes;
	return VEC_PUSH(&x->sizes, size);
}

static bool insight_tables_put_instructions(
	struct insight_tables_table *x, const struct instr_use *v, size_t n, uint32_t *n_rows)
{
	const struct code_row *code = x->s->t->code;
	size_t i = 0, g = 0;
	bool ok = true;

	while (ok && (g < x->d->groups.n || i < n)) {
		bool is_stated = g < x->d->groups.n, is_written = is_stated && !x->s->selection;
		const struct insight_group *stated = is_stated ? &x->d->groups.v[g] : NULL;
		const struct code_row *r = NULL;

		insight_tables_begin_row(x, stated);
		for (; i < n && (is_stated ? v[i].group == g : !r); i++) {
			insight_tables_add_code(x, v[i].code);
			is_written |= insight_is_written(x->s, v[i].code);
			r = r && r->n_frames ? r : &code[v[i].code];
		}
		g += is_stated;
		ok = !is_written || put_sized_row(x, (*n_rows)++, stated, r);
	}
	return ok;
}

/* How much of a table is written: all, without our columns, or that and its costliest rows. */
enum table_cut { TABLE_WHOLE, TABLE_STATED, TABLE_COSTLY, TABLE_CUTS };

struct sized_rows {
	uint32_t n, n_left;
	uint8_t *is_left; /* by row; NULL: none is */
};

ORDER(costly_cmp, struct row_size, DOWN(cycles) UP(at))

/* Chooses the costliest rows that fit beside the rest of the table. */
static bool choose_rows(struct insight_tables_table *x, struct sized_rows *rows, size_t most_bytes,
	size_t most_rows)
{
	size_t rest = x->w.sb->n, n = 0;

	rows->is_left = arena_zalloc(&x->s->arena, (size_t)rows->n + 1, 1);
	if (!rows->is_left)
		return false;
	for (size_t i = 0; i < x->sizes.n; i++)
		rest -= x->sizes.v[i].bytes;
	SORT(x->sizes.v, x->sizes.n, costly_cmp);
	while (n < x->sizes.n && n < most_rows && rest + x->sizes.v[n].bytes < most_bytes)
		rest += x->sizes.v[n++].bytes;
	rows->n_left = (uint32_t)(x->sizes.n - n);
	for (; n < x->sizes.n; n++)
		rows->is_left[x->sizes.v[n].at] = 1;
	return true;
}

/* Appends the table; one that does not fit says in *rows which rows would. */
static bool insight_put_api_instr(
	struct insight *s, struct strbuf *out, enum table_cut cut, struct sized_rows *rows)
{
	struct insight_tables_table x;
	struct instr_use *v = arena_zalloc(&s->arena, (size_t)s->t->n_code + 1, sizeof(*v));
	size_t n = 0;
	bool ok = insight_tables_table_open(&x, s, &s->instr, out) && v &&
		  group_instructions(&x, v, &n);

	rows->n = 0;
	x.is_stated_only = cut != TABLE_WHOLE;
	x.is_left = rows->is_left;
	json_w_kv_array(&x.w, "Instructions");
	ok = ok && insight_tables_put_instructions(&x, v, n, &rows->n);
	json_w_end(&x.w);
	json_w_kv_object(&x.w, "Instructions Dtype");
	json_w_kv_object(&x.w, "Instructions");
	json_w_kv_i64(&x.w, "Address", INSIGHT_TEXT);
	json_w_kv_i64(&x.w, "AscendC Inner Code", INSIGHT_TEXT);
	insight_tables_put_columns(&x, true);
	if (!x.is_stated_only)
		json_w_kv_i64(&x.w, "Evidence", INSIGHT_TEXT);
	json_w_kv_i64(&x.w, "Pipe", INSIGHT_TEXT);
	json_w_kv_i64(&x.w, "Source", INSIGHT_TEXT);
	json_w_end(&x.w);
	json_w_end(&x.w);
	json_w_end(&x.w);
	if (ok && cut == TABLE_STATED && !is_shown_whole(s, out, rows->n))
		ok = choose_rows(&x, rows, s->most_bytes, MAX_ROWS);
	VEC_FREE(&x.sizes);
	return ok && !out->failed;
}

/* --- lines --- */

/* Writes inclusive address ranges; addresses at most 4 bytes apart are merged. */
static bool insight_tables_put_ranges(
	struct insight *s, struct json_writer *w, const struct insight_use *v, size_t n)
{
	uint64_t *pc = mem_resize(NULL, n + 1, sizeof(*pc));
	char text[24];

	if (!pc)
		return false;
	for (size_t i = 0; i < n; i++)
		pc[i] = s->t->code[v[i].code].address;
	SORT(pc, n, compare_u64);
	json_w_kv_array(w, "Address Range");
	for (size_t i = 0; i < n;) {
		size_t k = i;

		while (k + 1 < n && pc[k + 1] - pc[k] <= 4)
			k++;
		json_w_array(w);
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)pc[i]);
		json_w_cstr(w, text);
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)pc[k]);
		json_w_cstr(w, text);
		json_w_end(w);
		i = k + 1;
	}
	json_w_end(w);
	mem_free(pc);
	return true;
}

/* Writes one line, which uses the first *n entries of v: its instructions, then the stated one. */
static bool insight_tables_put_line(
	struct insight_tables_table *x, const struct insight_use *v, size_t left, size_t *n)
{
	int column = insight_stated_column(x->d, "Address Range");
	const char *ranges = NULL;
	bool ok = true;

	for (*n = 1; *n < left && v[*n].source == v->source && v[*n].line == v->line;)
		++*n;
	insight_tables_begin_row(x, v[*n - 1].stated);
	for (size_t i = 0; i < *n && !v[i].stated; i++)
		insight_tables_add_code(x, v[i].code);
	if (column >= 0 && x->d->dtype[column] == INSIGHT_JSON)
		ranges = stated_text(x, "Address Range");
	json_w_object(&x->w);
	if (ranges) {
		json_w_key(&x->w, "Address Range");
		json_w_raw(&x->w, str_of(ranges));
	} else {
		ok = insight_tables_put_ranges(x->s, &x->w, v, *n - (x->stated != NULL));
	}
	insight_tables_put_columns(x, false);
	json_w_key(&x->w, "Line");
	insight_tables_put_number(&x->w, v->line, false);
	json_w_end(&x->w);
	return ok;
}

static bool insight_put_api_file(struct insight *s, struct strbuf *out, enum table_cut cut)
{
	const struct insight_use *v = s->uses.v;
	struct insight_tables_table x;
	bool ok = insight_tables_table_open(&x, s, &s->stated_lines, out);

	x.is_stated_only = cut != TABLE_WHOLE;

	json_w_kv_array(&x.w, "Files");
	for (size_t i = 0, n; ok && i < s->uses.n;) {
		source_idx source = v[i].source;

		json_w_object(&x.w);
		json_w_kv_array(&x.w, "Lines");
		for (; ok && i < s->uses.n && v[i].source == source; i += n)
			ok = insight_tables_put_line(&x, &v[i], s->uses.n - i, &n);
		json_w_end(&x.w);
		json_w_kv_cstr(&x.w, "Source", s->paths[source]);
		json_w_end(&x.w);
	}
	json_w_end(&x.w);
	json_w_kv_object(&x.w, "Files Dtype");
	json_w_kv_object(&x.w, "Lines");
	json_w_kv_i64(&x.w, "Address Range", INSIGHT_HIDDEN);
	insight_tables_put_columns(&x, true);
	json_w_kv_i64(&x.w, "Line", INSIGHT_INT);
	json_w_end(&x.w);
	json_w_end(&x.w);
	json_w_end(&x.w);
	return ok && !out->failed;
}

/* --- the container ---------------------------------------------------------------------------- */

/*
 * The blocks TRACE, SOURCE, API_FILE, API_INSTR, details, then our own block. Blocks are padded to
 * 4 bytes; nothing follows the last one.
 */

static void insight_bin_put_head(FILE *f, uint64_t size, unsigned type, unsigned version)
{
	uint8_t h[INSIGHT_HEADER_BYTES];
	uint64_t padded = (size + 3) / 4 * 4;

	for (unsigned i = 0; i < 8; i++)
		h[i] = (uint8_t)(padded >> 8 * i);
	h[8] = (uint8_t)type;
	h[9] = (uint8_t)(padded - size);
	h[10] = (uint8_t)version;
	h[11] = INSIGHT_MARK;
	fwrite(h, 1, sizeof(h), f);
}

static void put_padding(FILE *f, uint64_t size)
{
	fwrite("\0\0\0", 1, (size_t)((4 - size % 4) % 4), f);
}

static void insight_bin_put_block(FILE *f, const char *p, size_t n, unsigned type, unsigned version)
{
	insight_bin_put_head(f, n, type, version);
	fwrite(p, 1, n, f);
	put_padding(f, n);
}

/* Copies the finished trace.json. */
static bool put_trace(struct insight *s, FILE *f, struct incore_error *e)
{
	char *buf = mem_alloc(TEXT_OUT_BYTES);
	off_t size = ftello(s->trace_file);
	size_t n;

	if (!buf)
		return err_nomem(e);
	insight_bin_put_head(f, (uint64_t)size, INSIGHT_TRACE, INSIGHT_MARK);
	rewind(s->trace_file);
	while ((n = fread(buf, 1, TEXT_OUT_BYTES, s->trace_file)) > 0)
		fwrite(buf, 1, n, f);
	put_padding(f, (uint64_t)size);
	mem_free(buf);
	if (ferror(s->trace_file) || ferror(f))
		return err_write(e);
	return true;
}

/* Writes the sources. The viewer opens the first by name: those with neither text nor lines are
 * left out, as they would be an empty page. */
static bool insight_bin_put_sources(struct insight *s, FILE *f, struct incore_error *e)
{
	char path[INSIGHT_PATH_BYTES];
	struct strbuf b = {0};
	bool ok = true;

	for (source_idx i = 0; ok && !s->no_sources && i < s->t->n_sources; i++) {
		const struct source_file *k = &s->t->sources[i];
		bool is_large = k->text_len > s->most_bytes;

		if (!s->has_block[i])
			continue;
		sb_reset(&b);
		s->n_sources_left += is_large;
		if (k->text_len && !is_large)
			s->n_bytes_replaced +=
				insight_put_utf8(&b, (struct str){k->text, k->text_len});
		else
			insight_placeholder(s, i, &b);
		ok = !b.failed || err_nomem(e);
		memset(path, 0, sizeof(path));
		memcpy(path, s->paths[i], strlen(s->paths[i]));
		insight_bin_put_head(f, b.n, INSIGHT_SOURCE, INSIGHT_MARK);
		fwrite(path, 1, sizeof(path), f);
		fwrite(b.p, 1, b.n, f);
		put_padding(f, b.n);
	}
	sb_free(&b);
	return ok;
}

static void count_columns(struct insight *s, enum table_cut cut)
{
	for (size_t i = 0; i < FIGURES && cut != TABLE_WHOLE; i++)
		s->n_columns_left += figures[i].is_ours;
}

/* Writes the lines, if need be without our columns; all or nothing. */
static bool put_lines(struct insight *s, FILE *f, struct strbuf *b)
{
	bool is_put = false, ok = true;

	for (unsigned cut = 0; ok && !is_put && cut < TABLE_COSTLY; cut++) {
		sb_reset(b);
		ok = insight_put_api_file(s, b, cut);
		is_put = ok && is_shown_whole(s, b, s->n_lines);
		if (is_put)
			count_columns(s, cut);
	}
	if (is_put)
		insight_bin_put_block(f, b->p, b->n, INSIGHT_API_FILE, INSIGHT_MARK);
	else
		s->n_rows_left += s->n_lines;
	return ok;
}

/* Writes the instructions: the first cut that the viewer shows. The last has the list of cores at
 * least, by which it draws the page. */
static bool put_instructions(struct insight *s, FILE *f, struct strbuf *b)
{
	struct sized_rows rows = {0};
	bool is_put = false, ok = true;

	for (unsigned cut = 0; ok && !is_put && cut < TABLE_CUTS; cut++) {
		sb_reset(b);
		ok = insight_put_api_instr(s, b, cut, &rows);
		is_put = cut == TABLE_COSTLY || is_shown_whole(s, b, rows.n);
		if (is_put)
			count_columns(s, cut);
	}
	s->n_rows_left += rows.n_left;
	if (ok)
		insight_bin_put_block(f, b->p, b->n, INSIGHT_API_INSTR, 0);
	return ok;
}

static bool insight_bin_put_tables(struct insight *s, FILE *f, struct incore_error *e)
{
	struct strbuf b = {0};
	bool ok = (!s->n_lines || put_lines(s, f, &b)) &&
		  (!s->t->n_code || put_instructions(s, f, &b));

	for (unsigned type = INSIGHT_BASE_INFO; ok && type <= INSIGHT_TOP_STALL; type++) {
		sb_reset(&b);
		ok = insight_put_detail(s, type, &b);
		if (ok && b.n)
			insight_bin_put_block(f, b.p, b.n, type, INSIGHT_MARK);
	}
	sb_free(&b);
	return ok || err_nomem(e);
}

/* Writes all other data of the trace for our own importer; viewers skip this type. */
static bool insight_bin_put_own(struct insight *s, FILE *f, struct incore_error *e)
{
	char *bytes = NULL;
	size_t n = 0;
	bool ok = insight_own_bytes(s, &bytes, &n, e);

	if (ok && n)
		insight_bin_put_block(f, bytes, n, INSIGHT_TABLES, INSIGHT_MARK);
	free(bytes);
	return ok;
}

bool insight_write_bin(struct insight *s, struct incore_error *e)
{
	FILE *f = insight_file(s, NULL, "visualize_data.bin", e);
	bool ok;

	if (!f)
		return false;
	ok = (insight_find_lines(s) || err_nomem(e)) && put_trace(s, f, e) &&
	     insight_bin_put_sources(s, f, e) && insight_bin_put_tables(s, f, e) &&
	     insight_bin_put_own(s, f, e);
	return out_dir_done(&s->dir, f, "visualize_data.bin", ok ? e : NULL) && ok;
}
