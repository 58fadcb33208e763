/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c: packs a capture into one small file. */
#include <stdlib.h>

#include "answer/rows.h"
#include "base/file.h"
#include "base/mem.h"
#include "page/page.h"
#include "trace/packed.h"

#define MAX_LEVEL 19

struct pack_params {
	uint64_t level;
	const char *output;
};
static const struct option_def options[] = {
	{OPT_LEVEL, NULL, "8", "compression level of zstd, 1 to 19",
		OPTION_FIELD(pack_params, level)},
	{OPT_OUTPUT, NULL, NULL, "write the packed file to FILE, whole or not at all",
		OPTION_FIELD(pack_params, output)},
	OPTION_END,
};

/* Bytes of the regular files directly in a directory, or of the file itself. */
struct dir_size {
	const char *dir;
	uint64_t bytes;
};

static bool add_size(void *ctx, const char *name, struct incore_error *e)
{
	struct dir_size *s = ctx;
	char *path = path_join(s->dir, name);
	int64_t n;

	if (!path)
		return err_nomem(e);
	n = file_is_dir(path) ? -1 : file_size(path);
	if (n > 0)
		s->bytes += (uint64_t)n;
	mem_free(path);
	return true;
}

static bool input_bytes(const char *path, uint64_t *out, struct incore_error *e)
{
	struct dir_size s = {.dir = path};
	int64_t n = 0;

	if (!file_is_dir(path))
		n = file_size(path);
	else if (!dir_each(path, add_size, &s, e))
		return false;
	*out = s.bytes + (n > 0 ? (uint64_t)n : 0);
	return true;
}

/* "dir/ui_output_x/" -> "ui_output_x.incore" in the current directory; on the heap. */
static char *packed_name(const char *origin)
{
	struct strbuf b = {0};
	char *real = NULL;
	size_t n = strlen(origin);

	while (n > 1 && origin[n - 1] == '/')
		n--;
	sb_add(&b, origin, n);
	if (!b.failed &&
		(str_is(str_of(path_base(b.p)), ".") || str_is(str_of(path_base(b.p)), ".."))) {
		real = realpath(b.p, NULL);
		sb_reset(&b);
		sb_puts(&b, real ? real : "capture");
		free(real);
	}
	if (!b.failed) {
		struct str base = str_of(path_base(b.p));
		struct strbuf name = {0};

		if (str_ends(base, ".incore"))
			base.n -= strlen(".incore");
		sb_str(&name, base);
		sb_puts(&name, ".incore");
		sb_free(&b);
		b = name;
	}
	if (b.failed) {
		sb_free(&b);
		return NULL;
	}
	return b.p;
}

struct packed_row {
	const char *file, *evidence, *content_hash;
	uint64_t input_bytes;
	struct packed_result r;
	double bytes_per_instruction;
};
#define RESULT(M, NAME, UNIT, DOC) COLUMN_AS(packed_row, r.M, NAME, UNIT, DOC)
static const struct column packed_columns[] = {
	COLUMN(packed_row, file, UNIT_NONE, "path of the packed file"),
	EVIDENCE_COLUMN(packed_row, "what the figures rest on"),
	COLUMN(packed_row, content_hash, UNIT_NONE, "hash of the contents, 32 hexadecimal digits"),
	COLUMN(packed_row, input_bytes, UNIT_BYTES, "size of the capture that was packed"),
	RESULT(file_bytes, "file_bytes", UNIT_BYTES, "size of the packed file"),
	RESULT(column_bytes, "column_bytes", UNIT_BYTES,
		"bytes of slices, states and stated waits in the packed file"),
	RESULT(n_slices, "instructions", UNIT_COUNT, "executed instructions in the packed file"),
	RESULT(n_tracks, "tracks", UNIT_COUNT, "waves or pipes in the packed file"),
	RESULT(n_failed, "damaged_tracks", UNIT_COUNT, "waves or pipes that could not be read"),
	RESULT(n_blocks, "blocks", UNIT_COUNT, "blocks that are compressed separately"),
	COLUMN(packed_row, bytes_per_instruction, UNIT_BYTES, "file_bytes / instructions",
		.digits = 3),
};
static const struct record packed_record = RECORD_OF(packed_row, RECORD_BLOCK, packed_columns);

static void pack_page(const struct answer *a, struct page *p)
{
	const struct packed_row *x = a->data;
	const struct packed_result *r = &x->r;
	const struct trace *t = a->traces.v[0];

	page_line(p, "%s", x->file);
	page_say(p, "  %-14s %s bytes", "size", U64_TEXT(r->file_bytes));
	if (x->input_bytes)
		page_say(p, ", made of %s", U64_TEXT(x->input_bytes));
	if (r->file_bytes && x->input_bytes / r->file_bytes >= 2)
		page_say(p, " (1/%.0f)", (double)x->input_bytes / (double)r->file_bytes);
	page_line(p, "%s", "");
	page_say(p, "  %-14s %s", "instructions", U64_TEXT(r->n_slices));
	if (r->n_slices)
		page_say(p, ", %.3f bytes each (%.3f for their columns)",
			(double)r->file_bytes / (double)r->n_slices,
			(double)r->column_bytes / (double)r->n_slices);
	page_line(p, "%s", "");
	page_say(p, "  %-14s %s in %u block%s", "waves", U64_TEXT(r->n_tracks), r->n_blocks,
		plural(r->n_blocks));
	if (r->n_failed)
		page_say(p, ", %u damaged (kept as their errors)", r->n_failed);
	page_line(p, "%s", "");
	page_line(p, "  %-14s %s", "content hash", x->content_hash);
	page_line(p, "  %-14s %s, %u note%s", "evidence",
		evidence_text(t, (char[EVIDENCE_TEXT]){0}), t->n_notes, plural(t->n_notes));
}

static bool write_packed(const struct request *r, const struct trace *t, const char *path,
	struct packed_result *result, struct incore_error *e)
{
	const struct pack_params *p = r->params;
	struct packed_options o = {
		.pool = r->pool, .progress = r->progress, .level = (int)p->level};
	struct out_file out = {0};
	bool ok;

	if (!out_file_open(&out, path, e))
		return err_wrap(e, "cannot write the packed file");
	ok = packed_write(t, out.f, &o, result, e);
	if (ok && result->n_failed && r->is_strict)
		ok = err_set(e, INCORE_PARTIAL, "partial-input",
			"%u of %u wave%s could not be read, and --strict was asked for",
			result->n_failed, result->n_tracks, plural(result->n_tracks));
	ok = ok && out_file_commit(&out, e);
	out_file_abort(&out);
	return ok;
}

static const char *name_of(const struct pack_params *p, const struct trace *t, struct answer *a,
	struct incore_error *e)
{
	char *name = p->output ? NULL : packed_name(t->meta.origin);
	const char *path = p->output ? p->output : name ? arena_strdup(&a->arena, name) : NULL;

	mem_free(name);
	return path ? path : err_nomem_null(e);
}

static bool check_target(const struct request *r, struct incore_error *e)
{
	const struct pack_params *p = r->params;

	if (p->level < 1 || p->level > MAX_LEVEL)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--level: expected 1 to %d, found %llu", MAX_LEVEL,
			(unsigned long long)p->level);
	return !p->output || strcmp(p->output, "-") != 0 || r->out ||
	       err_set(e, INCORE_USAGE, "bad-option-value",
		       "output: expected the name of a file, found '-'");
}

static bool pack_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct packed_row *x = ANSWER_NEW(a, packed_row, e);
	struct trace *t;

	if (!x || !check_target(r, e) || !answer_open(a, r, r->paths[0], IMPORT_ALL, &t, e) ||
		!answer_may_write(r, a, e))
		return false;
	x->file = name_of(r->params, t, a, e);
	if (!x->file || !input_bytes(t->meta.origin, &x->input_bytes, e) ||
		!write_packed(r, t, x->file, &x->r, e))
		return false;
	a->is_written = true;
	if (x->r.n_failed) {
		a->n_losses++;
		answer_warn(a, "%u of %u wave%s could not be read; the file keeps their errors",
			x->r.n_failed, x->r.n_tracks, plural(x->r.n_tracks));
	}
	x->evidence = evidence_name(t->meta.evidence);
	x->content_hash = arena_printf(&a->arena, "%016llx%016llx",
		(unsigned long long)x->r.content_hash[1], (unsigned long long)x->r.content_hash[0]);
	x->bytes_per_instruction = ratio(x->r.file_bytes, x->r.n_slices);
	a->is_streamed = strcmp(x->file, "-") == 0;
	answer_set(a, &packed_record, x);
	return x->content_hash || err_nomem(e);
}

const struct question question_pack = {
	.name = "pack",
	.summary = "write a capture as one small .incore file",
	.args = "PATH",
	.min_paths = 1,
	.max_paths = 1,
	.groups = OPTIONS_CAPTURE,
	.options = options,
	.params_size = sizeof(struct pack_params),
	.records = RECORDS(&packed_record),
	.ask = pack_ask,
	.page = pack_page,
};
