/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c: one row per executed instruction, RFC 4180, units in the header. See incore-csv(7). */
#include "codec/csv.h"

#include "export/export.h"

struct csv_state {
	struct arena arena;
	const char **code;   /* per code row: its constant columns; made on first use */
	const char *unknown; /* these columns for a record without a row */
	struct strbuf lane;  /* the track's columns */
	struct strbuf row;
};

static bool csv_export_begin(struct export *x, struct incore_error *e)
{
	const struct trace *t = x->trace;
	struct csv_state *s = mem_zalloc(1, sizeof(*s));

	if (!s)
		return err_nomem(e);
	x->state = s;
	arena_init(&s->arena);
	s->code = arena_zalloc(&s->arena, (size_t)t->n_code + 1, sizeof(*s->code));
	s->unknown = arena_printf(&s->arena, ",,,,%s", evidence_name(t->meta.evidence));
	if (!s->code || !s->unknown)
		return err_nomem(e);
	for (int i = 0; i < TRACK_LEVELS && t->levels[i]; i++)
		fprintf(x->file.f, "%s,", t->levels[i]);
	fputs("index,start_cycles,duration_cycles,stall_cycles,issue_cycles,category,class,row,address,isa,source,evidence\r\n",
		x->file.f);
	return true;
}

static bool csv_export_track(struct export *x, const struct export_track *k, struct incore_error *e)
{
	struct csv_state *s = x->state;

	sb_reset(&s->lane);
	for (int i = 0; i < TRACK_LEVELS && x->trace->levels[i]; i++)
		sb_printf(&s->lane, "%u,", k->track->coord[i]);
	return s->lane.failed ? err_nomem(e) : true;
}

/* The columns row,address,isa,source,evidence of a code row. */
static const char *code_columns(struct export *x, code_idx code)
{
	struct csv_state *s = x->state;
	const struct code_row *r;

	if (code >= x->trace->n_code)
		return s->unknown;
	if (s->code[code])
		return s->code[code];
	r = &x->trace->code[code];
	sb_reset(&s->row);
	sb_printf(&s->row, "%lld,%llu,", (long long)r->number, (unsigned long long)r->address);
	csv_put_text(&s->row, (struct str){r->text, r->text_len});
	sb_putc(&s->row, ',');
	csv_put_text(&s->row, str_of(r->source));
	sb_printf(&s->row, ",%s", evidence_name(x->trace->meta.evidence));
	if (s->row.failed)
		return NULL;
	s->code[code] = arena_strndup(&s->arena, s->row.p, s->row.n);
	return s->code[code];
}

static bool csv_export_slice(struct export *x, const struct export_slice *v, struct incore_error *e)
{
	struct csv_state *s = x->state;
	const char *code = code_columns(x, v->code);

	if (!code)
		return err_nomem(e);
	fprintf(x->file.f, "%s%u,%lld,%u,%u,%u,%u,%s,%s\r\n", s->lane.p ? s->lane.p : "", v->index,
		(long long)v->start_cyc, v->dur_cyc, v->stall_cyc, v->dur_cyc - v->stall_cyc,
		v->tag, class_name((enum inst_class)v->inst_class), code);
	return true;
}

static bool csv_export_end(struct export *x, struct incore_error *e)
{
	return !ferror(x->file.f) || err_write(e);
}

static void csv_export_free_state(struct export *x)
{
	struct csv_state *s = x->state;

	if (!s)
		return;
	arena_deinit(&s->arena);
	sb_free(&s->lane);
	sb_free(&s->row);
	mem_free(s);
	x->state = NULL;
}

const struct export_ops export_csv = {
	.name = "csv",
	.suffix = ".csv",
	.media_type = "text/csv",
	.summary = "one row per executed instruction",
	.holds = EXPORT_SLICES | EXPORT_CYCLES | EXPORT_STALLS,
	.begin = csv_export_begin,
	.track = csv_export_track,
	.slice = csv_export_slice,
	.lost = export_note_told,
	.truncated = export_note_told,
	.end = csv_export_end,
	.abort = csv_export_free_state,
};
