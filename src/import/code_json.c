/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_json.c: the table of instructions that rocprofv3 writes. All layouts state version 3.0.0, so
 * columns are found by their names in "header"; because keys are sorted it follows the rows, so the
 * file is read twice.
 */
#include "import/code_json.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/json_reader.h"
#include "import/marker_names.h"
#include "isa/amd.h"

#define MAX_COLUMNS 64
#define LOOK_COLUMNS 6 /* ISA .. Vaddr: identical in captures of the same code */

enum column {
	COLUMN_OTHER,
	COLUMN_ISA,
	COLUMN_NUMBER,
	COLUMN_SOURCE,
	COLUMN_CODE_OBJECT,
	COLUMN_ADDRESS,
	COLUMN_HIT,
	COLUMN_LATENCY,
	COLUMN_STALL,
	COLUMN_IDLE,
	COLUMN_ISSUED,
	COLUMN_STALLED,
	COLUMN_REASONS,
	COLUMN_COUNT
};

static const struct {
	const char *name;
	enum column column;
} column_names[] = {
	{"ISA", COLUMN_ISA},
	{"LineNumber", COLUMN_NUMBER},
	{"Source", COLUMN_SOURCE},
	{"Codeobj", COLUMN_CODE_OBJECT},
	{"Vaddr", COLUMN_ADDRESS},
	{"Hit", COLUMN_HIT},
	{"Latency", COLUMN_LATENCY},
	{"Stall", COLUMN_STALL},
	{"Idle", COLUMN_IDLE},
	{"PC_Issued", COLUMN_ISSUED},
	{"PC_Stalled", COLUMN_STALLED},
	{"Stall_Reasons", COLUMN_REASONS},
	/* the development version's spelling */
	{"Issued", COLUMN_ISSUED},
	{"Stalled", COLUMN_STALLED},
	{"NotIssuedReasons", COLUMN_REASONS},
};

struct code_json_layout {
	uint8_t role[MAX_COLUMNS]; /* enum column by position */
	unsigned n;
	unsigned has; /* bit per enum column */
};

struct chain { /* frames of one distinct source string */
	uint32_t first;
	uint16_t n;
	bool is_made;
};

struct row_samples {
	struct code_samples sums;
	uint64_t reason[AMD_STALL_REASONS];
};

struct code_json_build {
	struct trace *trace;
	struct json_reader r;
	struct code_json_layout layout;
	struct code_json out;
	VEC(struct code_row) rows;
	VEC(struct row_samples) samples;
	VEC(struct frame) frames;
	VEC(struct chain) chains; /* by index in `sources` */
	VEC(uint32_t) row_source; /* index in `sources`, or INTERN_NONE */
	struct intern opcodes, paths, sources;
	struct row_samples sample; /* samples of the row being read */
	uint32_t source;	   /* its source */
	struct hash_stream hash;   /* of the first columns: see LOOK_COLUMNS */
	bool any_sample, is_nomem;
};

static bool code_json_fail_nomem(struct code_json_build *c)
{
	c->is_nomem = true;
	return json_reject(&c->r, "no-memory", "out of memory");
}

static void code_json_add_column(struct code_json_layout *l, struct str name)
{
	enum column role = COLUMN_OTHER;

	name = str_trim(name);
	for (size_t i = 0; i < sizeof(column_names) / sizeof(*column_names); i++)
		if (str_is(name, column_names[i].name))
			role = column_names[i].column;
	if (l->has & 1u << role)
		role = COLUMN_OTHER; /* of duplicate names the first counts */
	if (role != COLUMN_OTHER)
		l->has |= 1u << role;
	if (l->n < MAX_COLUMNS)
		l->role[l->n] = (uint8_t)role;
	l->n++;
}

/* "ISA, _, LineNumber, ..." or ["ISA", "_", ...] */
static void code_json_read_header(struct json_reader *r, struct code_json_layout *l)
{
	struct str s, part;

	if (json_peek(r) == JSON_STRING) {
		if (json_get_str(r, &s))
			while (str_cut(&s, ",", &part))
				code_json_add_column(l, part);
	} else if (json_enter_array(r)) {
		while (json_next_item(r) && json_get_str(r, &s))
			code_json_add_column(l, s);
	}
	if (r->is_failed)
		return;
	if (l->n > MAX_COLUMNS)
		json_reject(r, "bad-value", "%u columns in the header, at most %u are understood",
			l->n, MAX_COLUMNS);
	else if (!(l->has & 1u << COLUMN_ISA) || !(l->has & 1u << COLUMN_NUMBER))
		json_reject(
			r, "bad-value", "the header names no \"ISA\" or no \"LineNumber\" column");
}

/* A row is [code object, number, kind, name, source]. */
static bool read_marker_name(struct code_json_build *c, struct marker_names *m)
{
	struct json_reader *r = &c->r;
	uint64_t object = 0, id = 0;
	const char *texts[3] = {"", "", ""};
	char number[24] = "";
	struct str s;

	if (!json_enter_array(r))
		return true;
	for (unsigned i = 0; json_next_item(r); i++) {
		if (i < 2)
			json_get_u64(r, i ? &id : &object);
		else if (i < 5 && json_peek(r) == JSON_STRING && json_get_str(r, &s))
			texts[i - 2] = arena_strndup(&c->trace->arena, s.p, s.n);
		else
			json_skip(r);
		if (i >= 2 && i < 5 && !texts[i - 2])
			return false;
	}
	snprintf(number, sizeof(number), "%llu", (unsigned long long)id);
	return r->is_failed || marker_names_add(m, object, str_of(texts[0]), str_of(number),
				       str_of(texts[1]), str_of(texts[2]));
}

static void read_marker_names(struct code_json_build *c, const char *path)
{
	struct marker_names m = {.trace = c->trace};
	const char *origin = arena_strdup(&c->trace->arena, path);
	bool ok = origin != NULL;

	if (ok && json_enter_array_or_null(&c->r))
		while (ok && json_next_item(&c->r))
			ok = read_marker_name(c, &m);
	if (!ok || !marker_names_put(&m, origin)) {
		marker_names_drop(&m);
		c->is_nomem = true;
	}
}

/* First pass: everything but the rows. */
static bool code_json_read_frame(
	struct code_json_build *c, struct str in, const char *path, struct incore_error *e)
{
	struct json_reader *r = &c->r;
	struct str key;
	uint64_t seen = 0;

	json_init(r, in.p, in.n, path, 0);
	if (json_enter_object(r))
		while (json_next_key(r, &key)) {
			if (str_is(key, "header") && json_once(r, &seen, 0, key)) {
				code_json_read_header(r, &c->layout);
			} else if (str_is(key, "sqtt_funcmap") && json_once(r, &seen, 1, key)) {
				read_marker_names(c, path);
			} else if (!r->is_failed) {
				if (str_is(key, "code"))
					json_once(r, &seen, 2, key);
				json_skip(r);
			}
		}
	if (!json_finish(r, e))
		return false;
	if (!(seen & 4))
		return err_file(e, "missing-key", path, 0, "no \"code\": not a code table");
	return true;
}

static bool code_json_decimal(struct str s, uint64_t *out)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0 && str_to_u64(s, out);
}

/* Adds a frame for one "path:line" of an inline chain; other texts have no line and no frame. */
static bool code_json_add_frame(struct code_json_build *c, struct str link)
{
	ptrdiff_t colon = str_rfind_char(link, ':');
	struct frame f;
	uint64_t line;

	if (colon <= 0 || !code_json_decimal(str_sub(link, (size_t)colon + 1, link.n), &line) ||
		line == 0 || line > UINT32_MAX)
		return true;
	f.source = intern_add(&c->paths, str_sub(link, 0, (size_t)colon));
	f.line = (uint32_t)line;
	return f.source != INTERN_NONE && VEC_PUSH(&c->frames, f);
}

/* Makes the frames of a source string on first use, so that a label's demangled name is never
 * split. */
static bool get_chain(struct code_json_build *c, uint32_t source, struct code_row *row)
{
	struct str s = c->sources.strs[source], link;
	struct chain *chain = &c->chains.v[source];

	if (!chain->is_made) {
		chain->first = (uint32_t)c->frames.n;
		while (str_cut(&s, " -> ", &link))
			if (!code_json_add_frame(c, str_trim(link)))
				return code_json_fail_nomem(c);
		if (c->frames.n - chain->first > UINT16_MAX || c->frames.n > UINT32_MAX)
			return json_reject(&c->r, "bad-value",
				"an inline chain has more frames than are read");
		chain->n = (uint16_t)(c->frames.n - chain->first);
		chain->is_made = true;
	}
	row->first_frame = chain->first;
	row->n_frames = chain->n;
	return true;
}

static void code_json_read_text(struct code_json_build *c, struct code_row *row)
{
	struct str s, word;

	if (!json_get_str(&c->r, &s))
		return;
	row->text = arena_strndup(&c->trace->arena, s.n ? s.p : "", s.n);
	row->is_label = s.n > 0 && s.p[0] == ';';
	word = str_trim(s);
	if (s.n > UINT32_MAX) {
		json_reject(&c->r, "out-of-range", "text too long");
		return;
	}
	row->text_len = (uint32_t)s.n;
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] == ' ' || word.p[i] == '\t')
			word.n = i;
	row->opcode = intern_add(&c->opcodes, word);
	row->inst_class = (uint8_t)(row->is_label ? CLASS_OTHER : amd_class(AMD_NO_CATEGORY, s));
	if (!row->text || row->opcode == INTERN_NONE)
		code_json_fail_nomem(c);
}

static void code_json_read_reasons(struct code_json_build *c)
{
	struct json_reader *r = &c->r;
	uint64_t v;
	unsigned i = 0;

	if (!json_enter_array_or_null(r))
		return;
	for (; json_next_item(r) && json_get_u64(r, &v); i++)
		if (i < AMD_STALL_REASONS)
			c->sample.reason[i] = v;
}

/* A count; null and absent mean 0. */
static uint64_t read_count(struct json_reader *r)
{
	uint64_t v = 0;

	if (json_peek(r) == JSON_NULL)
		json_get_null(r);
	else
		json_get_u64(r, &v);
	return v;
}

static void code_json_read_source(struct code_json_build *c)
{
	struct str s;

	if (!json_get_str_or_null(&c->r, &s) || !s.n)
		return;
	c->source = intern_add(&c->sources, s);
	if (c->source == INTERN_NONE ||
		(c->source == c->chains.n && !VEC_PUSH(&c->chains, (struct chain){0})))
		code_json_fail_nomem(c);
}

static void read_cell(struct code_json_build *c, struct code_row *row, enum column role)
{
	struct json_reader *r = &c->r;

	switch (role) {
	case COLUMN_ISA:
		code_json_read_text(c, row);
		break;
	case COLUMN_NUMBER:
		if (json_get_i64(r, &row->number) && row->number < 0)
			json_reject(r, "out-of-range", "negative line number");
		break;
	case COLUMN_SOURCE:
		code_json_read_source(c);
		break;
	case COLUMN_CODE_OBJECT:
		json_get_u32(r, &row->code_object);
		break;
	case COLUMN_ADDRESS:
		json_get_u64(r, &row->address);
		break;
	case COLUMN_HIT:
		row->stated.hit = read_count(r);
		break;
	case COLUMN_LATENCY:
		row->stated.latency = read_count(r);
		break;
	case COLUMN_STALL:
		row->stated.stall = read_count(r);
		break;
	case COLUMN_IDLE:
		row->stated.idle = read_count(r);
		break;
	case COLUMN_ISSUED:
		c->sample.sums.issued = read_count(r);
		break;
	case COLUMN_STALLED:
		c->sample.sums.stalled = read_count(r);
		break;
	case COLUMN_REASONS:
		code_json_read_reasons(c);
		break;
	default:
		json_skip(r);
	}
}

static void code_json_read_row(struct code_json_build *c)
{
	struct json_reader *r = &c->r;
	struct code_row row = {.source = "", .text = ""};
	const char *start;
	unsigned n = 0;

	json_peek(r);
	start = r->p;
	c->sample = (struct row_samples){0};
	c->source = INTERN_NONE;
	if (!json_enter_array(r))
		return;
	for (; json_next_item(r); n++) {
		read_cell(c, &row, n < c->layout.n ? c->layout.role[n] : COLUMN_OTHER);
		if (n + 1 == LOOK_COLUMNS && !r->is_failed)
			hash_stream_add(&c->hash, start, (size_t)(r->p - start));
	}
	if (r->is_failed)
		return;
	if (n < c->layout.n) {
		json_reject(
			r, "bad-value", "expected %u or more columns, found %u", c->layout.n, n);
		r->fail_at = start;
		return;
	}
	if (c->source != INTERN_NONE && !row.is_label && !get_chain(c, c->source, &row))
		return;
	c->any_sample |= c->sample.sums.issued || c->sample.sums.stalled;
	if (c->rows.n >= UINT32_MAX - 1 || !VEC_PUSH(&c->rows, row) ||
		!VEC_PUSH(&c->samples, c->sample) || !VEC_PUSH(&c->row_source, c->source))
		code_json_fail_nomem(c);
}

static bool code_json_read_rows(
	struct code_json_build *c, struct str in, const char *path, struct incore_error *e)
{
	struct json_reader *r = &c->r;
	struct str key;

	json_init(r, in.p, in.n, path, 0);
	if (json_enter_object(r))
		while (json_next_key(r, &key)) {
			if (!str_is(key, "code")) {
				json_skip(r);
				continue;
			}
			if (!json_enter_array_or_null(r))
				continue;
			while (json_next_item(r)) {
				if (!c->layout.n)
					json_reject(
						r, "missing-key", "code rows without a \"header\"");
				code_json_read_row(c);
			}
		}
	return json_finish(r, e);
}

/* Moves strings and tables into the trace. */
static bool code_json_commit(struct code_json_build *c)
{
	struct trace *t = c->trace;
	struct arena *a = &t->arena;
	const char **text = arena_zalloc(&t->arena, (size_t)c->sources.n + 1, sizeof(*text));
	const char **opcodes = arena_zalloc(a, (size_t)c->opcodes.n + 1, sizeof(*opcodes));
	struct source_file *files = arena_zalloc(a, (size_t)c->paths.n + 1, sizeof(*files));
	struct code_row *rows = arena_zalloc(a, c->rows.n + 1, sizeof(*rows));
	struct frame *frames = arena_zalloc(a, c->frames.n + 1, sizeof(*frames));

	if (!text || !opcodes || !files || !rows || !frames)
		return false;
	if (c->rows.n)
		memcpy(rows, c->rows.v, c->rows.n * sizeof(*rows));
	if (c->frames.n)
		memcpy(frames, c->frames.v, c->frames.n * sizeof(*frames));
	for (uint32_t i = 0; i < c->sources.n; i++)
		if (!(text[i] = arena_strndup(a, c->sources.strs[i].p, c->sources.strs[i].n)))
			return false;
	for (uint32_t i = 0; i < c->opcodes.n; i++)
		if (!(opcodes[i] = arena_strndup(a, c->opcodes.strs[i].p, c->opcodes.strs[i].n)))
			return false;
	for (uint32_t i = 0; i < c->paths.n; i++)
		if (!(files[i].path = arena_strndup(a, c->paths.strs[i].p, c->paths.strs[i].n)))
			return false;
	for (size_t i = 0; i < c->rows.n; i++)
		if (c->row_source.v[i] != INTERN_NONE)
			rows[i].source = text[c->row_source.v[i]];
	t->code = rows;
	t->n_code = (uint32_t)c->rows.n;
	t->frames = frames;
	t->n_frames = (uint32_t)c->frames.n;
	t->opcodes = opcodes;
	t->n_opcodes = c->opcodes.n;
	t->sources = files;
	t->n_sources = c->paths.n;
	return true;
}

static bool commit_samples(struct code_json_build *c)
{
	struct trace *t = c->trace;
	unsigned totals =
		1u << COLUMN_HIT | 1u << COLUMN_LATENCY | 1u << COLUMN_STALL | 1u << COLUMN_IDLE;

	t->has_stated_totals = (c->layout.has & totals) == totals;
	c->out.has_samples = (c->layout.has & 1u << COLUMN_ISSUED) && c->any_sample;
	if (!c->out.has_samples)
		return true;
	if (!trace_make_samples(t, amd_stall_reasons, AMD_STALL_REASONS))
		return false;
	for (size_t i = 0; i < c->samples.n; i++) {
		t->samples[i] = c->samples.v[i].sums;
		for (unsigned k = 0; k < AMD_STALL_REASONS; k++)
			t->reason_counts[i * AMD_STALL_REASONS + k].all = c->samples.v[i].reason[k];
	}
	return true;
}

bool code_json_read(struct trace *t, struct str in, const char *path, struct code_json *out,
	struct incore_error *e)
{
	struct code_json_build c = {.trace = t};
	bool ok;

	intern_init(&c.opcodes);
	intern_init(&c.paths);
	intern_init(&c.sources);
	hash_stream_init(&c.hash);
	ok = code_json_read_frame(&c, in, path, e);
	json_deinit(&c.r);
	if (ok) {
		ok = code_json_read_rows(&c, in, path, e);
		json_deinit(&c.r);
	}
	if (c.is_nomem || (ok && (!code_json_commit(&c) || !commit_samples(&c))))
		ok = err_nomem(e);
	*out = c.out;
	out->hash = hash_stream_end(&c.hash).lo;
	intern_deinit(&c.opcodes);
	intern_deinit(&c.paths);
	intern_deinit(&c.sources);
	VEC_FREE(&c.rows);
	VEC_FREE(&c.samples);
	VEC_FREE(&c.frames);
	VEC_FREE(&c.chains);
	VEC_FREE(&c.row_source);
	return ok;
}

/* One row of the quick look: hashes the bytes of its first columns and checks whether it is
 * mapped. */
static void look_row(struct json_reader *r, struct hash_stream *h, struct capture *c)
{
	struct str text = {0}, source = {0};
	bool is_label = false;
	unsigned n = 0;
	const char *start;

	json_peek(r);
	start = r->p;
	if (!json_enter_array(r))
		return;
	for (; json_next_item(r); n++) {
		if (n == 0 && json_peek(r) == JSON_STRING) {
			if (json_get_str(r, &text))
				is_label = text.n > 0 && text.p[0] == ';';
		} else if (n == 3 && json_peek(r) == JSON_STRING) {
			json_get_str(r, &source);
		} else {
			json_skip(r);
		}
		if (n + 1 == LOOK_COLUMNS && !r->is_failed)
			hash_stream_add(h, start, (size_t)(r->p - start));
	}
	c->n_rows++;
	c->n_mapped += !is_label && source.n > 0;
}

bool code_json_look(struct str in, const char *path, struct capture *c, uint64_t *hash)
{
	struct json_reader r;
	struct hash_stream h;
	struct str key;
	bool ok;

	hash_stream_init(&h);
	json_init(&r, in.p, in.n, path, 0);
	if (json_enter_object(&r))
		while (json_next_key(&r, &key)) {
			if (!str_is(key, "code"))
				json_skip(&r);
			else if (json_enter_array_or_null(&r))
				while (json_next_item(&r))
					look_row(&r, &h, c);
		}
	ok = json_finish(&r, NULL);
	json_deinit(&r);
	*hash = hash_stream_end(&h).lo;
	return ok;
}
