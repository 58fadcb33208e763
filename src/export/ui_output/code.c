/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.c: the disassembly with totals, code.json. Rows, their order and their numbers are those of
 * the trace; the totals are those of the waves in this directory.
 */
#include "export/ui_output/writer.h"

static const char *const columns[] = {"ISA", "_", "LineNumber", "Source", "Codeobj", "Vaddr", "Hit",
	"Latency", "Stall", "Idle", "PC_Issued", "PC_Stalled", "Stall_Reasons"};
#define N_PLAIN 10u
#define N_SAMPLED 13u

/* Writes the producer's own text of the source position, or else the frames of the row. */
static bool put_source(struct ui_writer *u, const struct code_row *row, struct strbuf *text)
{
	const struct trace *t = u->x->trace;

	if (row->source[0] || !row->n_frames) {
		json_w_cstr(&u->w, row->source);
		return true;
	}
	sb_reset(text);
	for (uint32_t i = 0; i < row->n_frames; i++)
		if ((i && !sb_puts(text, " -> ")) ||
			!trace_put_frame(t, &t->frames[row->first_frame + i], text))
			return false;
	json_w_str(&u->w, (struct str){text->p, text->n});
	return true;
}

/* Are the reasons AMD's? The format has fixed positions for these and stores no names. */
static bool has_places(const struct trace *t)
{
	return t->n_reasons == AMD_STALL_REASONS && t->meta.vendor != VENDOR_NVIDIA;
}

static void put_samples(struct json_writer *w, const struct trace *t, code_idx i)
{
	json_w_u64(w, t->samples[i].issued);
	json_w_u64(w, t->samples[i].stalled);
	json_w_array(w);
	for (unsigned k = 0; k < AMD_STALL_REASONS; k++)
		json_w_u64(w, has_places(t) ? trace_reasons_of(t, i)[k].all : 0);
	json_w_end(w);
}

static bool put_row(struct ui_writer *u, code_idx i, struct strbuf *text)
{
	const struct trace *t = u->x->trace;
	const struct code_row *row = &t->code[i];
	const struct code_totals *sum = &u->totals[i];
	struct json_writer *w = &u->w;

	json_w_array(w);
	json_w_str(w, (struct str){row->text, row->text_len});
	json_w_u64(w, 0);
	json_w_i64(w, row->number);
	if (!put_source(u, row, text))
		return false;
	json_w_u64(w, row->code_object);
	json_w_u64(w, row->address);
	json_w_u64(w, sum->hit);
	json_w_u64(w, sum->latency);
	json_w_u64(w, sum->stall);
	json_w_u64(w, sum->idle);
	if (t->samples)
		put_samples(w, t, i);
	json_w_end(w);
	return true;
}

/* Writes the header: one string of names, or a list if there are samples, as the producer does. */
static bool put_header(struct ui_writer *u, struct strbuf *text)
{
	struct json_writer *w = &u->w;

	json_w_key(w, "header");
	if (u->x->trace->samples) {
		json_w_array(w);
		for (unsigned i = 0; i < N_SAMPLED; i++)
			json_w_cstr(w, columns[i]);
		json_w_end(w);
		return true;
	}
	sb_reset(text);
	for (unsigned i = 0; i < N_PLAIN; i++)
		sb_printf(text, "%s%s", i ? ", " : "", columns[i]);
	json_w_str(w, (struct str){text->p, text->n});
	return !text->failed;
}

static bool put_code(struct ui_writer *u, struct strbuf *text)
{
	const struct trace *t = u->x->trace;
	struct json_writer *w = &u->w;

	json_w_object(w);
	json_w_key(w, "code");
	if (!t->n_code) {
		json_w_null(w);
	} else {
		json_w_array(w);
		for (code_idx i = 0; i < t->n_code; i++)
			if (!put_row(u, i, text))
				return false;
		json_w_end(w);
	}
	if (!put_header(u, text))
		return false;
	json_w_kv_cstr(w, "version", UI_VERSION);
	json_w_end(w);
	return true;
}

bool ui_write_code(struct ui_writer *u, struct incore_error *e)
{
	struct strbuf text = {0};
	bool ok = ui_file_open(u, "code.json", e);

	if (ok && !put_code(u, &text))
		ok = err_nomem(e);
	sb_free(&text);
	return ok && ui_file_close(u, e);
}
