/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_pack.c: packs a capture into one small file. */
#include <stdlib.h>

#include "answer/rows.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/ask.h"
#include "cli/draw.h"
#include "page/say.h"
#include "trace/packed.h"

#define MAX_LEVEL 19

static const struct option_def pack_options[] = {
	{OPT_LEVEL, NULL, "8", "compression level of zstd, 1 to 19"},
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
static char *default_name(const char *origin)
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

static bool print_json(struct cli *c, const struct trace *t, const char *path,
	const struct packed_result *r, uint64_t in_bytes)
{
	char hash[33];
	struct packed_row x = {path, evidence_name(t->meta.evidence), hash, in_bytes, *r,
		ratio(r->file_bytes, r->n_slices)};

	snprintf(hash, sizeof(hash), "%016llx%016llx", (unsigned long long)r->content_hash[1],
		(unsigned long long)r->content_hash[0]);
	return cli_json_captures(c, &t, 1, &packed_record, &x);
}

static void print_text(struct cli *c, const struct trace *t, const char *path,
	const struct packed_result *r, uint64_t in_bytes)
{
	say(c->out, "%s\n", path);
	say(c->out, "  %-14s %s bytes", "size", U64_TEXT(r->file_bytes));
	if (in_bytes)
		say(c->out, ", made of %s", U64_TEXT(in_bytes));
	if (r->file_bytes && in_bytes / r->file_bytes >= 2)
		say(c->out, " (1/%.0f)", (double)in_bytes / (double)r->file_bytes);
	fputc('\n', c->out);
	say(c->out, "  %-14s %s", "instructions", U64_TEXT(r->n_slices));
	if (r->n_slices)
		say(c->out, ", %.3f bytes each (%.3f for their columns)",
			(double)r->file_bytes / (double)r->n_slices,
			(double)r->column_bytes / (double)r->n_slices);
	fputc('\n', c->out);
	say(c->out, "  %-14s %s in %u block%s", "waves", U64_TEXT(r->n_tracks), r->n_blocks,
		plural(r->n_blocks));
	if (r->n_failed)
		say(c->out, ", %u damaged (kept as their errors)", r->n_failed);
	fputc('\n', c->out);
	say(c->out, "  %-14s %016llx%016llx\n", "content hash",
		(unsigned long long)r->content_hash[1], (unsigned long long)r->content_hash[0]);
	say(c->out, "  %-14s %s, %u note%s\n", "evidence",
		evidence_text(t, (char[EVIDENCE_TEXT]){0}), t->n_notes, plural(t->n_notes));
}

static bool write_packed(
	struct cli *c, const struct trace *t, const char *path, struct packed_result *r)
{
	struct packed_options o = {.pool = c->pool, .progress = c->progress};
	struct out_file out = {0};
	uint64_t level = cli_count(c, "level");
	bool ok;

	if (level < 1 || level > MAX_LEVEL)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--level: expected 1 to %d, found %llu", MAX_LEVEL,
			(unsigned long long)level);
	o.level = (int)level;
	if (!out_file_open(&out, path, &c->error))
		return err_wrap(&c->error, "cannot write the packed file");
	ok = packed_write(t, out.f, &o, r, &c->error);
	if (ok && r->n_failed && cli_flag(c, "strict"))
		ok = err_set(&c->error, INCORE_PARTIAL, "partial-input",
			"%u of %u wave%s could not be read, and --strict was asked for",
			r->n_failed, r->n_tracks, plural(r->n_tracks));
	ok = ok && out_file_commit(&out, &c->error);
	out_file_abort(&out);
	return ok;
}

static bool pack(struct cli *c, const struct trace *t)
{
	struct packed_result r;
	const char *path = cli_text(c, "output");
	char *name = NULL;
	uint64_t bytes = 0;
	bool ok;

	if (cli_flag(c, "strict") && c->n_losses)
		return true; /* nothing is written; main.c reports why */
	name = path ? mem_strndup(path, strlen(path)) : default_name(t->meta.origin);
	ok = (name || err_nomem(&c->error)) && input_bytes(t->meta.origin, &bytes, &c->error) &&
	     write_packed(c, t, name, &r);
	if (ok && r.n_failed) {
		c->n_losses++;
		cli_warn(c, "%u of %u wave%s could not be read; the file keeps their errors",
			r.n_failed, r.n_tracks, plural(r.n_tracks));
	}
	if (ok && strcmp(name, "-") != 0) { /* otherwise stdout carries the file itself */
		if (c->use_json)
			ok = print_json(c, t, name, &r, bytes);
		else
			print_text(c, t, name, &r, bytes);
	}
	mem_free(name);
	return ok;
}

static bool run(struct cli *c)
{
	struct trace *t = NULL;
	struct asked x;
	bool ok = cli_begin(c, &x) && cli_open(c, &x, c->args[0], IMPORT_ALL, &t) && pack(c, t);

	cli_answered(&x);
	return ok;
}

const struct verb verb_pack = {
	.name = "pack",
	.args = "PATH",
	.summary = "write a capture as one small .incore file",
	.groups = OPTIONS_OUTPUT | OPTIONS_CAPTURE | OPTIONS_OWN_FILE,
	.options = pack_options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
	.records = RECORDS(&packed_record),
};
