/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight_tables.c: API_INSTR (a row per instruction) and API_FILE (a row per source line), cells
 * per core. Every figure is an int of 32 bits: larger ones are cut to the largest, as the producer
 * does.
 */

#include "base/search.h"
#include "codec/json_writer.h"
#include "export/insight/insight.h"

enum column {
	COLUMN_BUSY,
	COLUMN_CACHE,
	COLUMN_CYCLES,
	COLUMN_EXECUTED,
	COLUMN_QUEUE,
	COLUMN_WAIT,
	COLUMNS
};
static const char *const column_names[COLUMNS] = {"Busy Cycles", "Cache Stall Cycles", "Cycles",
	"Instructions Executed", "Queue Stall Cycles", "Wait Cycles"};

static uint64_t column_of(const struct insight_cell *c, enum column k)
{
	switch (k) {
	case COLUMN_BUSY:
		return c->busy;
	case COLUMN_CACHE:
		return c->cache;
	case COLUMN_CYCLES:
		return c->cycles;
	case COLUMN_EXECUTED:
		return c->hit;
	case COLUMN_QUEUE:
		return c->queue;
	case COLUMN_WAIT:
		return c->wait;
	case COLUMNS:
		break;
	}
	return 0;
}

static void put_int(struct json_writer *w, uint64_t v)
{
	json_w_i64(w, v > INT32_MAX ? INT32_MAX : (int64_t)v);
}

static void put_cores(const struct insight *s, struct json_writer *w)
{
	json_w_kv_array(w, "Cores");
	for (size_t i = 0; i < s->units.n; i++)
		json_w_cstr(w, s->units.v[i].name);
	json_w_end(w);
}

static void put_columns(struct insight *s, struct json_writer *w, const struct insight_cell *c)
{
	for (unsigned k = 0; k < COLUMNS; k++) {
		json_w_kv_array(w, column_names[k]);
		for (size_t i = 0; i < s->units.n; i++)
			put_int(w, column_of(&c[i], (enum column)k));
		json_w_end(w);
	}
}

static void put_types(struct json_writer *w)
{
	for (unsigned k = 0; k < COLUMNS; k++)
		json_w_kv_i64(w, column_names[k], 1);
}

static void put_bytes(struct insight *s, struct json_writer *w, code_idx code)
{
	json_w_kv_array(w, "Process Bytes");
	for (uint32_t i = 0; i < s->units.n; i++) {
		uint64_t n = insight_row_bytes(s, code, i);

		if (n)
			put_int(w, n);
		else
			json_w_i64(w, -1);
	}
	json_w_end(w);
}

/* The line a row belongs to: its innermost frame that is not the toolkit's. */
static bool put_inner(struct insight *s, struct json_writer *w, const struct code_row *r)
{
	const struct frame *f = NULL;
	struct strbuf b = {0};
	const char *path;
	bool ok;

	for (uint16_t i = 0; i < r->n_frames && !f; i++) {
		const struct frame *k = &s->t->frames[r->first_frame + i];

		if (k->source < s->t->n_sources &&
			!strstr(s->t->sources[k->source].path, "ascend-toolkit"))
			f = k;
	}
	if (!f && r->n_frames)
		f = &s->t->frames[r->first_frame];
	path = f && f->source < s->t->n_sources ? insight_source_path(s, f->source) : "";
	if (f && path)
		sb_printf(&b, "%s:%u", path, f->line);
	json_w_kv_cstr(w, "AscendC Inner Code", b.p ? b.p : "");
	ok = path && !b.failed; /* freeing ends the failure, too */
	sb_free(&b);
	return ok;
}

static uint8_t pipe_of_row(const struct insight *s, code_idx code)
{
	for (size_t i = 0; i < s->units.n; i++) {
		const struct insight_cell *c = &s->cells[(size_t)code * s->units.n + i];

		if (c->hit)
			return c->pipe;
	}
	return PIPE_NONE;
}

static bool put_row(struct insight *s, struct json_writer *w, code_idx code)
{
	const struct code_row *r = &s->t->code[code];
	char text[24], pipe[16];
	bool ok;

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)r->address);
	json_w_object(w);
	json_w_kv_cstr(w, "Address", text);
	ok = put_inner(s, w, r);
	put_columns(s, w, &s->cells[(size_t)code * s->units.n]);
	json_w_kv_cstr(w, "Evidence", evidence_name(s->t->meta.evidence));
	json_w_kv_cstr(w, "Pipe",
		pipe_of_row(s, code) ? ascend_pipe_name(pipe_of_row(s, code), pipe) : "");
	put_bytes(s, w, code);
	json_w_kv_str(w, "Source", (struct str){r->text, r->text_len});
	json_w_end(w);
	return ok;
}

bool insight_put_api_instr(struct insight *s, struct strbuf *out)
{
	struct json_writer w;
	bool ok = true;

	json_w_buf(&w, out, 0);
	json_w_object(&w);
	put_cores(s, &w);
	json_w_kv_array(&w, "Instructions");
	for (code_idx i = 0; ok && i < s->t->n_code; i++)
		if (!s->t->code[i].is_label)
			ok = put_row(s, &w, i);
	json_w_end(&w);
	json_w_kv_object(&w, "Instructions Dtype");
	json_w_kv_object(&w, "Instructions");
	json_w_kv_i64(&w, "Address", 3);
	json_w_kv_i64(&w, "AscendC Inner Code", 3);
	put_types(&w);
	json_w_kv_i64(&w, "Evidence", 3);
	json_w_kv_i64(&w, "Pipe", 3);
	json_w_kv_i64(&w, "Process Bytes", 1);
	json_w_kv_i64(&w, "Source", 3);
	json_w_end(&w);
	json_w_end(&w);
	json_w_end(&w);
	return ok && !out->failed;
}

/* --- lines --- */

struct line_use { /* a row that a line has a part in */
	source_idx source;
	uint32_t line;
	code_idx code;
};

ORDER(use_cmp, struct line_use, UP(source) UP(line) UP(code))

/* Inclusive ranges; what is at most 4 bytes apart is one. */
static bool put_ranges(struct insight *s, struct json_writer *w, const struct line_use *v, size_t n)
{
	uint64_t *pc = mem_resize(NULL, n, sizeof(*pc));
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

static bool put_line(struct insight *s, struct json_writer *w, const struct line_use *v, size_t n)
{
	struct insight_cell *sum = mem_zalloc(s->units.n + 1, sizeof(*sum));
	bool ok = sum != NULL;

	for (size_t i = 0; ok && i < n; i++)
		for (size_t u = 0; u < s->units.n; u++) {
			const struct insight_cell *c =
				&s->cells[(size_t)v[i].code * s->units.n + u];

			sum[u].hit += c->hit;
			sum[u].cycles += c->cycles;
			sum[u].busy += c->busy;
			sum[u].wait += c->wait;
			sum[u].cache += c->cache;
			sum[u].queue += c->queue;
		}
	if (ok) {
		json_w_object(w);
		ok = put_ranges(s, w, v, n);
		put_columns(s, w, sum);
		json_w_key(w, "Line");
		put_int(w, v[0].line);
		json_w_end(w);
	}
	mem_free(sum);
	return ok;
}

static bool put_files(struct insight *s, struct json_writer *w, const struct line_use *v, size_t n)
{
	bool ok = true;

	for (size_t i = 0; ok && i < n;) {
		source_idx source = v[i].source;
		const char *path = insight_source_path(s, source);

		json_w_object(w);
		json_w_kv_array(w, "Lines");
		while (ok && i < n && v[i].source == source) {
			size_t k = i;

			while (k < n && v[k].source == source && v[k].line == v[i].line)
				k++;
			ok = put_line(s, w, v + i, k - i);
			i = k;
		}
		json_w_end(w);
		json_w_kv_cstr(w, "Source", path ? path : "");
		json_w_end(w);
		ok = ok && path;
	}
	return ok;
}

/* One use per row and line, however often the line is in the row's chain. */
static size_t drop_doubles(struct line_use *v, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (i == 0 || use_cmp(&v[i], &v[i - 1]) != 0)
			v[kept++] = v[i];
	return kept;
}

bool insight_put_api_file(struct insight *s, struct strbuf *out, bool *has_lines)
{
	VEC(struct line_use) v = {0};
	struct json_writer w;
	bool ok = true;

	for (code_idx c = 0; ok && c < s->t->n_code; c++)
		for (uint16_t i = 0; ok && i < s->t->code[c].n_frames; i++) {
			const struct frame *f = &s->t->frames[s->t->code[c].first_frame + i];

			if (f->source < s->t->n_sources &&
				!strstr(s->t->sources[f->source].path, "ascend-toolkit"))
				ok = VEC_PUSH(&v, (struct line_use){f->source, f->line, c});
		}
	if (v.n) {
		SORT(v.v, v.n, use_cmp);
		v.n = drop_doubles(v.v, v.n);
	}
	*has_lines = v.n > 0;
	json_w_buf(&w, out, 0);
	json_w_object(&w);
	put_cores(s, &w);
	json_w_kv_array(&w, "Files");
	ok = ok && put_files(s, &w, v.v, v.n);
	json_w_end(&w);
	json_w_kv_object(&w, "Files Dtype");
	json_w_kv_object(&w, "Lines");
	json_w_kv_i64(&w, "Address Range", 0);
	put_types(&w);
	json_w_kv_i64(&w, "Line", 1);
	json_w_end(&w);
	json_w_end(&w);
	json_w_end(&w);
	VEC_FREE(&v);
	return ok && !out->failed;
}
