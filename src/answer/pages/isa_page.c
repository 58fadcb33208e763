/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isa_page.c: the disassembly with its costs, wait arrows, branches and loops. Divisions: arrows
 * beside the listing; the listing; the page.
 */
#include "analysis/code/hot.h"
#include "answer/isa.h"
#include "answer/pages.h"
#include "base/mem.h"
#include "base/str.h"
#include "page/say.h"

struct gutter {
	unsigned n_lanes;
	uint32_t n_lines;
	uint8_t *cells; /* lines x (lanes + 1): bits for the sides that a stroke goes to */
};

/* --- arrows beside the listing ---------------------------------------------------------------- */

enum side { SIDE_UP = 1, SIDE_DOWN = 2, SIDE_LEFT = 4, SIDE_RIGHT = 8, SIDE_HEAD = 16 };

static uint8_t *cell_at(const struct gutter *g, uint32_t line, unsigned lane)
{
	return &g->cells[(size_t)line * (g->n_lanes + 1) + lane];
}

static const char *glyph(unsigned sides, bool is_ascii)
{
	static const char *const box[16] = {" ", "\u2502", "\u2502", "\u2502", "\u2500", "\u2518",
		"\u2510", "\u2524", "\u2500", "\u2514", "\u250c", "\u251c", "\u2500", "\u2534",
		"\u252c", "\u253c"};
	static const char *const ascii[16] = {
		" ", "|", "|", "|", "-", "'", ".", "|", "-", "`", ",", "|", "-", "+", "+", "+"};

	if (sides & SIDE_HEAD)
		return is_ascii ? ">" : "\u25ba";
	return is_ascii ? ascii[sides & 15] : box[sides & 15];
}

static bool lane_is_free(const struct gutter *g, uint32_t top, uint32_t bottom, unsigned lane)
{
	for (uint32_t i = top; i <= bottom; i++)
		if (*cell_at(g, i, lane) & (SIDE_UP | SIDE_DOWN))
			return false;
	return true;
}

/* Draws a stroke from the lane to the text. */
static void stroke_right(struct gutter *g, uint32_t line, unsigned lane, bool is_head)
{
	*cell_at(g, line, lane) |= SIDE_RIGHT;
	for (unsigned k = lane + 1; k < g->n_lanes; k++)
		*cell_at(g, line, k) |= SIDE_LEFT | SIDE_RIGHT;
	*cell_at(g, line, g->n_lanes) |= is_head ? SIDE_LEFT | SIDE_HEAD : SIDE_LEFT;
}

static bool gutter_init(
	struct gutter *g, uint32_t n_lines, unsigned n_lanes, struct incore_error *e)
{
	*g = (struct gutter){.n_lanes = n_lanes, .n_lines = n_lines};
	g->cells = mem_zalloc((size_t)n_lines + 1, n_lanes + 1);
	return g->cells || err_nomem(e);
}

static void gutter_deinit(struct gutter *g)
{
	mem_free(g->cells);
	*g = (struct gutter){0};
}

/* Adds an arrow from one line to another, its head at `to`; false: no lane is free. */
static bool gutter_arrow(struct gutter *g, uint32_t from, uint32_t to)
{
	uint32_t top = from < to ? from : to, bottom = from < to ? to : from;
	unsigned lane = g->n_lanes;

	if (from == to || bottom >= g->n_lines)
		return false;
	while (lane > 0 && !lane_is_free(g, top, bottom, lane - 1))
		lane--;
	if (lane == 0)
		return false;
	lane--;
	*cell_at(g, top, lane) |= SIDE_DOWN;
	*cell_at(g, bottom, lane) |= SIDE_UP;
	for (uint32_t i = top + 1; i < bottom; i++)
		*cell_at(g, i, lane) |= SIDE_UP | SIDE_DOWN;
	stroke_right(g, from, lane, false);
	stroke_right(g, to, lane, true);
	return true;
}

/* Appends the lanes of a line, n_lanes + 1 characters wide. */
static void gutter_put(const struct gutter *g, uint32_t line, bool is_ascii, struct strbuf *out)
{
	for (unsigned k = 0; k <= g->n_lanes; k++)
		sb_puts(out, glyph(*cell_at(g, line, k), is_ascii));
}

/* Appends the lanes of a heading between `line` - 1 and `line`: only arrows that run through. */
static void gutter_put_between(
	const struct gutter *g, uint32_t line, bool is_ascii, struct strbuf *out)
{
	for (unsigned k = 0; k <= g->n_lanes; k++) {
		bool runs = k < g->n_lanes && (*cell_at(g, line, k) & SIDE_UP);

		sb_puts(out, glyph(runs ? SIDE_UP | SIDE_DOWN : 0, is_ascii));
	}
}

/* --- the listing ------------------------------------------------------------------------------ */

#define BRANCH_LANES 3u
#define WAIT_LANES 4u
#define LONGEST_ARROW 48u /* lines; longer ones are named in words only */
#define LOOP_BARS 3u	  /* deeper nesting is not drawn */
#define TEXT_WIDTH 40u	  /* the instruction is padded to this before the words */

enum isa_column {
	COLUMN_ROW,
	COLUMN_HIT,
	COLUMN_LATENCY,
	COLUMN_STALL,
	COLUMN_PCT,
	COLUMN_LINE,
	COLUMNS
};
static const char *const cycle_titles[COLUMNS] = {"row", "hit", "latency", "stall", "%lat", "line"};
static const char *const sample_titles[COLUMNS] = {"row", "", "samples", "stalled", "%smp", "line"};
static const char *const exposed_titles[COLUMNS] = {
	"row", "hits", "samples", "exposed", "%smp", "line"};

struct isa_page_writer {
	const struct isa_answer *a;
	const struct listing *l;
	const struct trace *trace;
	bool has_period; /* cycles are samples x period */
	const char *const *titles;
	bool is_sampled; /* PC sampling: shows counts of samples instead of cycles */
	struct strbuf *out;
	struct strbuf part; /* scratch buffer for one field */
	unsigned column;    /* visible characters of the line so far */
	unsigned widths[COLUMNS];
	unsigned class_width, n_bars;
	struct gutter branches, waits;
	uint32_t *line_of; /* by code_idx: position among the shown rows */
	uint32_t n_lines, lines_out;
	code_idx hottest;
	uint64_t n_waves;
	uint32_t n_notes;
};

/* Appends text; counts characters, not bytes. */
static void isa_page_put(struct isa_page_writer *w, enum cell_style style, const char *text)
{
	struct strbuf plain = {0};

	if (!str_is_plain(str_of(text))) {
		sb_plain(&plain, str_of(text));
		text = plain.p ? plain.p : "";
	}
	for (const char *p = text; *p; p++)
		w->column += ((unsigned char)*p & 0xc0) != 0x80;
	if (*text && style != CELL_PLAIN)
		sb_printf(w->out, "%s%s%s", style_mark(style), text, style_mark_end);
	else
		sb_puts(w->out, text);
	w->out->failed |= plain.failed;
	sb_free(&plain);
}

static void pad_to(struct isa_page_writer *w, unsigned column)
{
	while (w->column < column)
		isa_page_put(w, CELL_PLAIN, " ");
}

static void end_line(struct isa_page_writer *w)
{
	while (w->out->n > 0 && w->out->p[w->out->n - 1] == ' ')
		w->out->p[--w->out->n] = 0;
	sb_putc(w->out, '\n');
	w->column = 0;
	w->lines_out++;
}

static void isa_page_put_part(struct isa_page_writer *w, enum cell_style style)
{
	if (w->part.n > 0)
		isa_page_put(w, style, w->part.p);
	sb_reset(&w->part);
}

/* "path:line" of the innermost frame of a row, split in two; false without a source. */
static bool innermost(
	const struct code_row *r, struct str *path, struct str *line, bool *is_inlined)
{
	struct str all = str_of(r->source ? r->source : ""), s = hot_line_of(r);
	ptrdiff_t colon = str_rfind_char(s, ':');

	*is_inlined = str_find(all, " -> ") >= 0;
	*path = colon < 0 ? s : str_sub(s, 0, (size_t)colon);
	*line = colon < 0 ? (struct str){"", 0} : str_sub(s, (size_t)colon, s.n);
	return all.n > 0;
}

static const char *line_text(const struct code_row *r, char buf[32])
{
	struct str path, line;
	bool is_inlined;

	if (!innermost(r, &path, &line, &is_inlined))
		return "";
	snprintf(buf, 32, "%.*s%s", line.n > 12 ? 12 : (int)line.n, line.p, is_inlined ? "+" : "");
	return buf;
}

/* Cycles of all waves, or of the mean wave. */
static const char *number_or_blank(const struct isa_page_writer *w, uint64_t v, char buf[32])
{
	uint64_t n = w->n_waves, tenths = n ? (v * 10 + n / 2) / n : 0;

	if (!v || !n)
		return v ? fmt_u64(buf, v) : "";
	fmt_u64(buf, tenths / 10);
	snprintf(buf + strlen(buf), 3, ".%u", (unsigned)(tenths % 10));
	return buf;
}

static const char *cell_text(
	const struct isa_page_writer *w, code_idx i, enum isa_column c, char buf[32])
{
	const struct hot_sums *s = &w->l->hot->rows[i];
	uint64_t part = listing_weight(w->l, s), whole = listing_weight(w->l, &w->l->hot->all);

	switch (c) {
	case COLUMN_ROW:
		snprintf(buf, 32, "%lld", (long long)w->trace->code[i].number);
		return buf;
	case COLUMN_HIT:
		if (w->is_sampled && !w->has_period)
			return "";
		return s->totals.hit ? fmt_u64(buf, s->totals.hit) : "-";
	case COLUMN_LATENCY:
		return number_or_blank(w, part, buf);
	case COLUMN_STALL:
		if (w->has_period)
			return number_or_blank(w, s->exposed_samples, buf);
		return number_or_blank(
			w, w->is_sampled ? s->stalled_samples : s->totals.stall, buf);
	case COLUMN_LINE:
		return line_text(&w->trace->code[i], buf);
	default:
		if (part == 0 || whole == 0)
			return "";
		snprintf(buf, 32, "%.1f", 100.0 * (double)part / (double)whole);
		return buf;
	}
}

static enum cell_style heat(const struct isa_page_writer *w, code_idx i)
{
	const struct hot_sums *s = &w->l->hot->rows[i];
	uint64_t part = listing_weight(w->l, s), whole = listing_weight(w->l, &w->l->hot->all);

	if (s->totals.hit == 0 && part == 0)
		return CELL_DIM;
	if (whole == 0 || part < whole / 50)
		return CELL_PLAIN;
	return part < whole / 10 ? CELL_WARM : CELL_HOT;
}

/* The loop of nesting level `level` (1: outermost) around a row, or NO_LOOP. */
static uint32_t loop_at_level(const struct listing *l, code_idx i, uint32_t level)
{
	uint32_t loop = l->rows[i].loop;

	while (loop != NO_LOOP && l->cfg.loops[loop].depth > level)
		loop = l->cfg.loops[loop].parent;
	return loop != NO_LOOP && l->cfg.loops[loop].depth == level ? loop : NO_LOOP;
}

/* The instruction before or after row i, shown or not; NO_CODE at the ends. */
static code_idx neighbour(const struct isa_page_writer *w, code_idx i, int step)
{
	for (int64_t k = (int64_t)i + step; k >= 0 && k < w->trace->n_code; k += step)
		if (!w->trace->code[k].is_label)
			return (code_idx)k;
	return NO_CODE;
}

static void put_bars(struct isa_page_writer *w, code_idx i, bool is_between)
{
	static const char *const box[] = {"\u2503", "\u250f", "\u2517", "\u257a"};
	static const char *const ascii[] = {"|", "/", "\\", "="};
	const char *const *glyphs = w->a->is_ascii ? ascii : box;

	for (unsigned k = 1; k <= w->n_bars; k++) {
		uint32_t loop = loop_at_level(w->l, i, k);
		code_idx up = neighbour(w, i, -1), down = neighbour(w, i, 1);
		bool above = up != NO_CODE && loop_at_level(w->l, up, k) == loop;
		bool below = down != NO_CODE && loop_at_level(w->l, down, k) == loop;

		if (loop == NO_LOOP || (is_between && !above))
			sb_puts(&w->part, " ");
		else if (is_between || (above && below))
			sb_puts(&w->part, glyphs[0]);
		else
			sb_puts(&w->part, glyphs[below ? 1 : above ? 2 : 3]);
	}
	isa_page_put_part(w, CELL_DIM);
}

static unsigned numbers_width(const struct isa_page_writer *w)
{
	unsigned n = w->class_width + 1;

	for (unsigned c = 0; c < COLUMNS; c++)
		n += w->widths[c] + 1;
	return n;
}

/* Bars and arrows that run through a line without a row. */
static void put_between(struct isa_page_writer *w, code_idx i)
{
	pad_to(w, numbers_width(w));
	put_bars(w, i, true);
	gutter_put_between(&w->branches, w->line_of[i], w->a->is_ascii, &w->part);
	gutter_put_between(&w->waits, w->line_of[i], w->a->is_ascii, &w->part);
	isa_page_put_part(w, CELL_DIM);
}

/* The name of a source file, where the rows begin to come from another one. */
static void isa_page_put_heading(struct isa_page_writer *w, code_idx i, struct str path)
{
	ptrdiff_t slash = str_rfind_char(path, '/');

	put_between(w, i);
	sb_puts(&w->part, w->a->is_ascii ? " -- " : " \u2500\u2500 ");
	sb_str(&w->part, str_sub(path, (size_t)(slash + 1), path.n));
	isa_page_put_part(w, CELL_DIM);
	end_line(w);
}

static void put_numbers(struct isa_page_writer *w, code_idx i)
{
	unsigned at = 0;
	char buf[32];

	for (unsigned c = 0; c < COLUMNS; c++) {
		const char *text = cell_text(w, i, (enum isa_column)c, buf);
		unsigned n = (unsigned)strlen(text);

		pad_to(w, at + (n < w->widths[c] ? w->widths[c] - n : 0));
		isa_page_put(w, c == COLUMN_ROW || c == COLUMN_LINE ? CELL_DIM : heat(w, i), text);
		at += w->widths[c] + 1;
		pad_to(w, at);
	}
	isa_page_put(w, CELL_PLAIN, class_name((enum inst_class)w->trace->code[i].inst_class));
	pad_to(w, at + w->class_width + 1);
}

/* Separates the next remark from the one before with "; ". */
static void next_word(struct isa_page_writer *w)
{
	sb_puts(&w->part, w->part.n ? "; " : "");
}

/* Says how many instances the wait consumed, and how many iterations ahead they were issued;
 * nothing for one instance of the same iteration. */
static void say_pair(struct isa_page_writer *w, const struct producer_edge *x)
{
	const struct wait_pair *p = wait_pairs_find(w->l->latency->pairs, x->producer, x->wait);
	uint64_t together = p ? p->together.median : 1;
	uint64_t ahead = p ? p->iterations.median : 0;

	if (together > 1)
		sb_printf(&w->part, "%s %s, ", x->n_inexact ? "group of" : "last of",
			U64_TEXT(together));
	else if (x->n_inexact)
		sb_puts(&w->part, "group, ");
	if (w->has_period)
		sb_printf(&w->part, "%s", COUNTED(x->count, "sample"));
	else
		sb_printf(&w->part, "latency %s", U64_TEXT(x->latency.median));
	if (ahead)
		sb_printf(&w->part, ", %s ahead", COUNTED(ahead, "iteration"));
}

static void say_edges(struct isa_page_writer *w, const struct listing_row *row)
{
	for (unsigned k = 0; k < row->n_edges; k++) {
		const struct producer_edge *x = &w->l->producers->edges.v[row->edge[k]];

		if (k == 0)
			next_word(w);
		sb_printf(&w->part, "%s %lld (", k ? " and" : "waits for",
			(long long)w->trace->code[x->producer].number);
		say_pair(w, x);
		sb_puts(&w->part, ")");
	}
}

static void say_branch(struct isa_page_writer *w, code_idx i)
{
	const struct listing_row *row = &w->l->rows[i];
	code_idx to = w->l->cfg.target[i];

	if (to < w->trace->n_code) {
		next_word(w);
		sb_printf(&w->part, "to %lld", (long long)w->trace->code[to].number);
		if (row->taken + row->not_taken)
			sb_printf(&w->part, ", taken %s of %s", U64_TEXT(row->taken),
				U64_TEXT(row->taken + row->not_taken));
	}
	if (row->n_from == 0)
		return;
	next_word(w);
	sb_puts(&w->part, "from");
	for (uint32_t k = 0; k < row->n_from && k < 4; k++)
		sb_printf(&w->part, "%s %lld", k ? "," : "",
			(long long)w->trace->code[w->l->from[row->first_from + k]].number);
	if (row->n_from > 4)
		sb_printf(&w->part, " and %u more", row->n_from - 4);
}

static void say_loop(struct isa_page_writer *w, uint32_t loop)
{
	const struct loop_stats *s;
	uint32_t n_rows;

	if (loop == NO_LOOP)
		return;
	s = &w->l->loops->v[loop];
	n_rows = w->l->cfg.loops[loop].n_rows;
	next_word(w);
	if (w->l->hot->is_stated)
		sb_printf(&w->part, "loop of %u row%s", n_rows, plural(n_rows));
	else if (s->iterations)
		sb_printf(&w->part, "loop of %u row%s: %s, median %s", n_rows, plural(n_rows),
			COUNTED(s->iterations, "iteration"), COUNTED(s->median_cyc, "cycle"));
	else
		sb_printf(&w->part, "loop of %u row%s: never repeated", n_rows, plural(n_rows));
}

static void isa_page_put_row(struct isa_page_writer *w, code_idx i)
{
	const struct listing_row *row = &w->l->rows[i];
	unsigned at;

	put_numbers(w, i);
	put_bars(w, i, false);
	gutter_put(&w->branches, w->line_of[i], w->a->is_ascii, &w->part);
	gutter_put(&w->waits, w->line_of[i], w->a->is_ascii, &w->part);
	sb_puts(&w->part, " ");
	isa_page_put_part(w, CELL_DIM);
	at = w->column;
	isa_page_put(w, heat(w, i), w->trace->code[i].text);
	say_loop(w, row->headed);
	say_edges(w, row);
	say_branch(w, i);
	if (w->part.n) {
		pad_to(w, at + TEXT_WIDTH);
		isa_page_put(w, CELL_PLAIN, "  ");
		isa_page_put_part(w, CELL_DIM);
	}
	end_line(w);
}

static void put_header(struct isa_page_writer *w)
{
	unsigned at = 0;

	for (unsigned c = 0; c < COLUMNS; c++) {
		pad_to(w, at + w->widths[c] - (unsigned)strlen(w->titles[c]));
		isa_page_put(w, CELL_DIM, w->titles[c]);
		at += w->widths[c] + 1;
		pad_to(w, at);
	}
	isa_page_put(w, CELL_DIM, "class");
	pad_to(w, numbers_width(w) + w->n_bars + BRANCH_LANES + WAIT_LANES + 3);
	isa_page_put(w, CELL_DIM, "instruction");
	end_line(w);
}

static void isa_page_put_footer(struct isa_page_writer *w)
{
	const struct hot *h = w->l->hot;

	if (w->is_sampled)
		sb_printf(&w->part, "%s, %s stalled", COUNTED(h->all.samples, "sample"),
			U64_TEXT(h->all.stalled_samples));
	else
		sb_printf(&w->part, "%s %s%s, %s, latency %s", U64_TEXT(h->n_waves),
			kind_row(w->trace)->track, plural(h->n_waves),
			COUNTED(h->n_instructions, "instruction"), U64_TEXT(h->all.totals.latency));
	if (!w->is_sampled)
		sb_printf(&w->part, ", stall %s%s", COUNTED(h->all.totals.stall, "cycle"),
			h->is_stated ? " (as stated)" : "");
	if (w->n_waves)
		sb_puts(&w->part, ", rows per wave");
	sb_printf(&w->part, ", %s, %u note%s", evidence_text(w->trace, (char[EVIDENCE_TEXT]){0}),
		w->n_notes, plural(w->n_notes));
	isa_page_put_part(w, CELL_PLAIN);
	end_line(w);
}

/* --- measuring and laying out --------------------------------------------------------------- */

static void isa_page_measure(struct isa_page_writer *w)
{
	char buf[32];

	for (unsigned c = 0; c < COLUMNS; c++)
		w->widths[c] = (unsigned)strlen(w->titles[c]);
	w->class_width = 5;
	for (code_idx i = 0; i < w->trace->n_code; i++) {
		unsigned n =
			(unsigned)strlen(class_name((enum inst_class)w->trace->code[i].inst_class));

		if (!w->a->shown[i] || w->trace->code[i].is_label)
			continue;
		w->class_width = n > w->class_width ? n : w->class_width;
		if (w->l->rows[i].depth > w->n_bars)
			w->n_bars = w->l->rows[i].depth;
		for (unsigned c = 0; c < COLUMNS; c++) {
			n = (unsigned)strlen(cell_text(w, i, (enum isa_column)c, buf));
			w->widths[c] = n > w->widths[c] ? n : w->widths[c];
		}
	}
	if (w->n_bars > LOOP_BARS)
		w->n_bars = LOOP_BARS;
}

static void try_arrow(struct isa_page_writer *w, struct gutter *g, code_idx from, code_idx to)
{
	uint32_t a, b;

	if (!w->a->shown[from] || !w->a->shown[to])
		return;
	a = w->line_of[from];
	b = w->line_of[to];
	if ((a > b ? a - b : b - a) <= LONGEST_ARROW)
		gutter_arrow(g, a, b);
}

static bool lay_out(struct isa_page_writer *w, struct incore_error *e)
{
	const struct listing *l = w->l;

	w->line_of = mem_zalloc((size_t)w->trace->n_code + 1, sizeof(*w->line_of));
	if (!w->line_of)
		return err_nomem(e);
	for (code_idx i = 0; i < w->trace->n_code; i++) {
		w->line_of[i] = w->n_lines;
		w->n_lines += w->a->shown[i];
	}
	if (!gutter_init(&w->branches, w->n_lines, BRANCH_LANES, e) ||
		!gutter_init(&w->waits, w->n_lines, WAIT_LANES, e))
		return false;
	/* Costliest first, so that lanes go to the arrows that matter. */
	for (size_t i = 0; i < l->producers->edges.n; i++) {
		const struct producer_edge *x = &l->producers->edges.v[i];
		const struct listing_row *row = &l->rows[x->wait];

		for (unsigned k = 0; k < row->n_edges; k++)
			if (row->edge[k] == i)
				try_arrow(w, &w->waits, x->producer, x->wait);
	}
	for (code_idx i = 0; i < w->trace->n_code; i++)
		if (l->cfg.target[i] < w->trace->n_code)
			try_arrow(w, &w->branches, i, l->cfg.target[i]);
	return true;
}

static void find_hottest(struct isa_page_writer *w)
{
	uint64_t most = 0;

	w->hottest = NO_CODE;
	for (code_idx i = 0; i < w->trace->n_code; i++) {
		uint64_t weight = listing_weight(w->l, &w->l->hot->rows[i]);

		if (w->a->shown[i] && weight > most) {
			most = weight;
			w->hottest = i;
		}
	}
}

static void isa_page_put_label(struct isa_page_writer *w, code_idx i)
{
	put_between(w, i);
	isa_page_put(w, CELL_PLAIN, " ");
	isa_page_put(w, CELL_WARM, w->trace->code[i].text);
	end_line(w);
}

static void put_hole(struct isa_page_writer *w, code_idx i)
{
	put_between(w, i);
	isa_page_put(w, CELL_DIM, " ...");
	end_line(w);
}

static void isa_page_put_lines(struct isa_page_writer *w, unsigned *hottest_line)
{
	struct str last_path = {"", 0}, path, line;
	code_idx last = NO_CODE;
	bool is_inlined;

	put_header(w);
	for (code_idx i = 0; i < w->trace->n_code; i++) {
		const struct code_row *r = &w->trace->code[i];

		if (!w->a->shown[i])
			continue;
		if (last != NO_CODE && i != last + 1)
			put_hole(w, i);
		last = i;
		if (r->is_label) {
			isa_page_put_label(w, i);
			continue;
		}
		if (innermost(r, &path, &line, &is_inlined) && !str_eq(path, last_path)) {
			isa_page_put_heading(w, i, path);
			last_path = path;
		}
		isa_page_put_row(w, i);
		if (i == w->hottest)
			*hottest_line = w->lines_out;
	}
	if (w->n_lines == 0) {
		isa_page_put(w, CELL_DIM, "no rows to show");
		end_line(w);
	}
	isa_page_put_footer(w);
}

/*
 * Appends the rows that the answer shows, with cycles as the mean of n_waves (0: sums of all) and
 * n_notes in the footer. *hottest_line is the line of the hottest row, from 1; 0: none.
 */
static bool isa_listing_make(const struct isa_answer *a, uint64_t n_waves, uint32_t n_notes,
	struct strbuf *out, unsigned *hottest_line, struct incore_error *e)
{
	struct isa_page_writer w = {.a = a,
		.l = a->listing,
		.trace = a->listing->trace,
		.has_period = trace_kind(a->listing->trace) == KIND_SAMPLES,
		.is_sampled = a->listing->trace->samples != NULL,
		.out = out,
		.n_waves = n_waves,
		.n_notes = n_notes};
	bool ok = lay_out(&w, e);

	w.titles = w.has_period ? exposed_titles : w.is_sampled ? sample_titles : cycle_titles;
	if (ok) {
		isa_page_measure(&w);
		find_hottest(&w);
		isa_page_put_lines(&w, hottest_line);
		ok = (!out->failed && !w.part.failed) || err_nomem(e);
	}
	gutter_deinit(&w.branches);
	gutter_deinit(&w.waits);
	mem_free(w.line_of);
	sb_free(&w.part);
	return ok;
}

/* --- the page --------------------------------------------------------------------------------- */

static void put_csv(struct page *p, const struct isa_answer *a)
{
	static const char *const cycles[] = {"row", "address", "isa", "class", "hit", "latency",
		"stall", "idle=idle=idle_cycles", "weight_pct=%=share_of_latency_pct", "loop_depth",
		"target", "waits_for", "source", NULL};
	static const char *const samples[] = {"row", "address", "isa", "class", "all_samples",
		"stalled", "weight_pct=%=share_of_samples_pct", "loop_depth", "target", "waits_for",
		"source", NULL};

	page_main_records(
		p, &isa_row_record, a->rows, a->listing->trace->samples ? samples : cycles);
}

static const void *pointed_row(const void *v, size_t i)
{
	return ((const struct isa_row *const *)v)[i];
}

/* Rows with latencies from level counters, beside the median that needs no counter. */
static void isa_page_put_levels(struct page *p, const struct isa_answer *a)
{
	static const char *const columns[] = {"row", "class", "levels.n", "levels.mean",
		"levels.error", "load_to_wait", "isa", NULL};
	const struct isa_row *rows = a->rows.v, **known = mem_zalloc(a->rows.n + 1, sizeof(*known));
	size_t n = 0;

	for (size_t i = 0; known && i < a->rows.n; i++)
		if (rows[i].levels)
			known[n++] = &rows[i];
	page_gap(p);
	page_line(p, "memory latency by %s", a->levels_from);
	p->is_failed |= !known;
	if (known)
		page_records(p, &isa_row_record, (struct rows){known, n, pointed_row}, columns);
	mem_free(known);
}

static const char explanation[] =
	"\nlatency, stall: sums over all executions, as recorded (stall is part of latency); % is the "
	"row's\nshare of all latency. An arrow into a wait comes from the instruction whose return "
	"released it most\nof the time; \"group\": one of several that return in any order. Bars left "
	"of the arrows are loops.\n";

void isa_page(const struct answer *answer, struct page *p)
{
	const struct isa_answer *a = answer->data;
	struct strbuf listing = {0};

	p->n_waves = a->per ? a->totals.waves : 0;
	if (p->is_csv) {
		put_csv(p, a);
		return;
	}
	p->is_long = true;
	if (isa_listing_make(a, p->n_waves, answer->n_notes, &listing, &p->open_at, &p->error))
		page_listing(p, listing.p ? listing.p : "");
	else
		p->is_failed = true;
	if (a->levels_from)
		isa_page_put_levels(p, a);
	if (p->explains)
		page_lines(p, explanation);
	sb_free(&listing);
}
