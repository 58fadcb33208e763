/* SPDX-License-Identifier: Apache-2.0 */
/* view_code.c: the code table as columns, a page at a time. */
#include "base/mem.h"
#include "serve/view/view_index.h"

enum column {
	COLUMN_ROW,
	COLUMN_ADDRESS,
	COLUMN_TEXT,
	COLUMN_CLASS,
	COLUMN_LABEL,
	COLUMN_SOURCE,
	COLUMN_LINE,
	COLUMN_HITS,
	COLUMN_CYCLES,
	COLUMNS
};

static void put_cell(const struct view *v, uint32_t i, enum column k, struct json_writer *w)
{
	const struct code_row *r = &v->trace->code[i];
	const struct frame *f = r->n_frames ? &v->trace->frames[r->first_frame] : NULL;
	const struct code_sum *s = &v->index->code[i];

	switch (k) {
	case COLUMN_ROW:
		json_w_i64(w, r->number);
		break;
	case COLUMN_ADDRESS:
		json_w_u64(w, r->address);
		break;
	case COLUMN_TEXT:
		json_w_str(w, (struct str){r->text, r->text_len});
		break;
	case COLUMN_CLASS:
		json_w_u64(w, r->inst_class);
		break;
	case COLUMN_LABEL:
		json_w_u64(w, r->is_label);
		break;
	case COLUMN_SOURCE:
		json_w_i64(w, f && f->source != NO_SOURCE ? (int64_t)f->source : -1);
		break;
	case COLUMN_LINE:
		json_w_u64(w, f ? f->line : 0);
		break;
	case COLUMN_HITS:
		json_w_u64(w, s->hits);
		break;
	default:
		json_w_u64(w, s->cyc);
	}
}

/* Writes the exclusive cost of each source file: that of rows whose innermost frame is in it. */
static bool put_sources(const struct view *v, struct json_writer *w)
{
	const struct trace *t = v->trace;
	uint64_t *sums = mem_zalloc((size_t)t->n_sources + 1, sizeof(*sums));

	if (!sums)
		return false;
	for (uint32_t i = 0; i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];
		source_idx s = r->n_frames ? t->frames[r->first_frame].source : NO_SOURCE;

		sums[s < t->n_sources ? s : t->n_sources] += v->index->code[i].cyc;
	}
	json_w_kv_row(w, "source_cycles");
	for (uint32_t i = 0; i < t->n_sources; i++)
		json_w_u64(w, sums[i]);
	json_w_end(w);
	mem_free(sums);
	return true;
}

bool view_code(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	static const char *const names[COLUMNS] = {
		"row", "address", "text", "class", "label", "source", "line", "hits", "cycles"};
	uint64_t from, n;
	struct json_writer w;

	if (!query_number(q, "from", 0, UINT32_MAX, &from, e) ||
		!query_number(q, "n", VIEW_MAX_ROWS, VIEW_MAX_ROWS, &n, e))
		return false;
	json_w_buf(&w, out, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "schema", "incore.view.code/1");
	json_w_kv_u64(&w, "from", from);
	json_w_kv_u64(&w, "total", v->trace->n_code);
	for (unsigned k = 0; k < COLUMNS; k++) {
		json_w_kv_row(&w, names[k]);
		for (uint64_t i = from; i < v->trace->n_code && i - from < n; i++)
			put_cell(v, (uint32_t)i, k, &w);
		json_w_end(&w);
	}
	if (from == 0 && !put_sources(v, &w))
		return err_nomem(e);
	json_w_end(&w);
	return json_w_finish(&w, e);
}
