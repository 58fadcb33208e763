/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight_tables.c: API_INSTR (a row per instruction) and API_FILE (a row per source line), a cell
 * per core, or one for all cores if they are equal. Figures that the producer stated have its
 * column names; sums over the trace have our own, and the producer's names only for rows that it
 * did not state. Every figure is a 32-bit int: larger ones are clamped, as the producer does.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/search.h"
#include "codec/json_writer.h"
#include "codec/trace_events.h"
#include "export/insight/insight.h"

#define NO_ROW UINT32_MAX

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

/* A table being written, and its current row. */
struct table {
	struct insight *s;
	const struct insight_stated *d;
	struct json_writer w;
	const struct insight_group *stated; /* or NULL */
	struct insight_cell *sum;	    /* by unit: sums over the trace */
	uint32_t *row_of;		    /* by unit: row of the stated table, or NO_ROW */
	double *list;			    /* by unit */
};

static bool table_open(
	struct table *x, struct insight *s, const struct insight_stated *d, struct strbuf *out)
{
	size_t n = s->units.n + 1;

	*x = (struct table){.s = s, .d = d};
	x->sum = arena_zalloc(&s->arena, n, sizeof(*x->sum));
	x->row_of = arena_zalloc(&s->arena, n, sizeof(*x->row_of));
	x->list = arena_zalloc(&s->arena, n, sizeof(*x->list));
	json_w_buf(&x->w, out, 0);
	json_w_object(&x->w);
	json_w_kv_array(&x->w, "Cores");
	for (size_t i = 0; i < s->units.n; i++)
		json_w_cstr(&x->w, s->units.v[i].name);
	json_w_end(&x->w);
	return x->sum && x->row_of && x->list;
}

/* --- cells --- */

static void put_number(struct json_writer *w, double v, bool is_float)
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
static void put_list(struct table *x, const char *name, bool is_float)
{
	size_t n = x->s->units.n;
	bool is_one = n > 0;

	for (size_t i = 1; i < n; i++)
		is_one &= x->list[i] == x->list[0];
	json_w_key(&x->w, name);
	if (!is_one)
		json_w_array(&x->w);
	for (size_t i = 0; i < (is_one ? 1 : n); i++)
		put_number(&x->w, x->list[i], is_float);
	if (!is_one)
		json_w_end(&x->w);
}

/* The stated value of a column for a unit; `none` if there is no value. */
static double stated_number(const struct table *x, size_t unit, int column, double none)
{
	uint32_t row = x->row_of[unit];
	const char *cell = row == NO_ROW ? NULL : insight_stated_cell(x->d, row, column);
	double v;

	return cell && trace_event_number(str_of(cell), &v) ? v : none;
}

/* The first non-empty cell of a column for the current row, or NULL. */
static const char *stated_text(const struct table *x, const char *name)
{
	int column = insight_stated_column(x->d, name);
	const char *cell = NULL;

	for (uint32_t i = 0; x->stated && i < x->stated->n && !cell; i++)
		cell = insight_stated_cell(x->d, x->stated->first + i, column);
	return cell;
}

static void put_stated(struct table *x, uint32_t column)
{
	const char *name = x->d->k->cols[column], *cell;
	enum insight_dtype type = x->d->dtype[column];

	if (type == INSIGHT_INT || type == INSIGHT_FLOAT || type == INSIGHT_PERCENT) {
		for (size_t i = 0; i < x->s->units.n; i++)
			x->list[i] = stated_number(x, i, (int)column, -1);
		put_list(x, name, type != INSIGHT_INT);
		return;
	}
	cell = stated_text(x, name);
	json_w_key(&x->w, name);
	if (type == INSIGHT_TEXT)
		json_w_cstr(&x->w, cell ? cell : "");
	else
		json_w_raw(&x->w, cell ? str_of(cell) : STR("[]"));
}

/* Writes a figure: the producer's if it stated the row, otherwise the sum over the trace. */
static void put_figure(struct table *x, const struct figure *k)
{
	int column = k->is_ours || !x->stated ? -1 : insight_stated_column(x->d, k->name);

	for (size_t i = 0; i < x->s->units.n; i++) {
		uint64_t v;

		memcpy(&v, (const char *)&x->sum[i] + k->at, sizeof(v));
		x->list[i] = column >= 0 ? stated_number(x, i, column, k->none)
			     : v	 ? (double)v
					 : k->none;
	}
	put_list(x, k->name, false);
}

/* Writes the columns common to both tables, or their types under the same names. */
static void put_columns(struct table *x, bool is_types)
{
	for (size_t i = 0; i < FIGURES; i++) {
		if (figures[i].is_beside && !x->d->k)
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
			put_stated(x, i);
	}
}

/* --- rows --- */

/* Starts a row: finds what is stated for each core, and clears the sums. */
static void begin_row(struct table *x, const struct insight_group *g)
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

static void add_code(struct table *x, code_idx code)
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

/* Writes the source line of a row: its innermost frame outside of the toolkit. */
static bool put_inner(struct table *x, const struct code_row *r)
{
	struct insight *s = x->s;
	const struct frame *f = NULL;
	struct strbuf b = {0};
	bool ok;

	for (uint16_t i = 0; r && i < r->n_frames && !f; i++) {
		const struct frame *k = &s->t->frames[r->first_frame + i];

		if (k->source < s->t->n_sources &&
			!strstr(s->t->sources[k->source].path, "ascend-toolkit"))
			f = k;
	}
	if (!f && r && r->n_frames)
		f = &s->t->frames[r->first_frame];
	if (f && f->source < s->t->n_sources && s->has_block[f->source])
		sb_printf(&b, "%s:%u", s->paths[f->source], f->line);
	else
		s->n_places_left += f != NULL;
	json_w_kv_cstr(&x->w, "AscendC Inner Code", b.p ? b.p : "");
	ok = !b.failed; /* before sb_free(), which resets `failed` */
	sb_free(&b);
	return ok;
}

static const char *pipe_of_row(const struct table *x, char text[16])
{
	const char *stated = stated_text(x, "Pipe");

	for (size_t i = 0; !stated && i < x->s->units.n; i++)
		if (x->sum[i].hit)
			return ascend_pipe_name(x->sum[i].pipe, text);
	return stated ? stated : "";
}

/* Writes a row; r: the code row with its source position, or NULL. */
static bool put_row(struct table *x, uint64_t address, const struct code_row *r)
{
	const char *source = stated_text(x, "Source");
	char buf[24];
	bool ok;

	snprintf(buf, sizeof(buf), "0x%llx", (unsigned long long)address);
	json_w_object(&x->w);
	json_w_kv_cstr(&x->w, "Address", buf);
	ok = put_inner(x, r);
	put_columns(x, false);
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

static bool group_instructions(struct table *x, struct instr_use *v, size_t *n)
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

static bool put_instructions(struct table *x, const struct instr_use *v, size_t n, uint64_t *n_rows)
{
	const struct code_row *code = x->s->t->code;
	size_t i = 0, g = 0;
	bool ok = true;

	while (ok && (g < x->d->groups.n || i < n)) {
		bool is_stated = g < x->d->groups.n, is_written = is_stated && !x->s->selection;
		const struct insight_group *stated = is_stated ? &x->d->groups.v[g] : NULL;
		const struct code_row *r = NULL;

		begin_row(x, stated);
		for (; i < n && (is_stated ? v[i].group == g : !r); i++) {
			add_code(x, v[i].code);
			is_written |= insight_is_written(x->s, v[i].code);
			r = r && r->n_frames ? r : &code[v[i].code];
		}
		g += is_stated;
		*n_rows += is_written;
		ok = !is_written || put_row(x, stated ? stated->number : r ? r->address : 0, r);
	}
	return ok;
}

bool insight_put_api_instr(struct insight *s, struct strbuf *out, uint64_t *n_rows)
{
	struct table x;
	struct instr_use *v = arena_zalloc(&s->arena, (size_t)s->t->n_code + 1, sizeof(*v));
	size_t n = 0;
	bool ok = table_open(&x, s, &s->instr, out) && v && group_instructions(&x, v, &n);

	*n_rows = 0;
	json_w_kv_array(&x.w, "Instructions");
	ok = ok && put_instructions(&x, v, n, n_rows);
	json_w_end(&x.w);
	json_w_kv_object(&x.w, "Instructions Dtype");
	json_w_kv_object(&x.w, "Instructions");
	json_w_kv_i64(&x.w, "Address", INSIGHT_TEXT);
	json_w_kv_i64(&x.w, "AscendC Inner Code", INSIGHT_TEXT);
	put_columns(&x, true);
	json_w_kv_i64(&x.w, "Evidence", INSIGHT_TEXT);
	json_w_kv_i64(&x.w, "Pipe", INSIGHT_TEXT);
	json_w_kv_i64(&x.w, "Source", INSIGHT_TEXT);
	json_w_end(&x.w);
	json_w_end(&x.w);
	json_w_end(&x.w);
	return ok && !out->failed;
}

/* --- lines --- */

/* Writes inclusive address ranges; addresses at most 4 bytes apart are merged. */
static bool put_ranges(
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
static bool put_line(struct table *x, const struct insight_use *v, size_t left, size_t *n)
{
	int column = insight_stated_column(x->d, "Address Range");
	const char *ranges = NULL;
	bool ok = true;

	for (*n = 1; *n < left && v[*n].source == v->source && v[*n].line == v->line;)
		++*n;
	begin_row(x, v[*n - 1].stated);
	for (size_t i = 0; i < *n && !v[i].stated; i++)
		add_code(x, v[i].code);
	if (column >= 0 && x->d->dtype[column] == INSIGHT_JSON)
		ranges = stated_text(x, "Address Range");
	json_w_object(&x->w);
	if (ranges) {
		json_w_key(&x->w, "Address Range");
		json_w_raw(&x->w, str_of(ranges));
	} else {
		ok = put_ranges(x->s, &x->w, v, *n - (x->stated != NULL));
	}
	put_columns(x, false);
	json_w_key(&x->w, "Line");
	put_number(&x->w, v->line, false);
	json_w_end(&x->w);
	return ok;
}

bool insight_put_api_file(struct insight *s, struct strbuf *out)
{
	const struct insight_use *v = s->uses.v;
	struct table x;
	bool ok = table_open(&x, s, &s->stated_lines, out);

	json_w_kv_array(&x.w, "Files");
	for (size_t i = 0, n; ok && i < s->uses.n;) {
		source_idx source = v[i].source;

		json_w_object(&x.w);
		json_w_kv_array(&x.w, "Lines");
		for (; ok && i < s->uses.n && v[i].source == source; i += n)
			ok = put_line(&x, &v[i], s->uses.n - i, &n);
		json_w_end(&x.w);
		json_w_kv_cstr(&x.w, "Source", s->paths[source]);
		json_w_end(&x.w);
	}
	json_w_end(&x.w);
	json_w_kv_object(&x.w, "Files Dtype");
	json_w_kv_object(&x.w, "Lines");
	json_w_kv_i64(&x.w, "Address Range", INSIGHT_HIDDEN);
	put_columns(&x, true);
	json_w_kv_i64(&x.w, "Line", INSIGHT_INT);
	json_w_end(&x.w);
	json_w_end(&x.w);
	json_w_end(&x.w);
	return ok && !out->failed;
}
