/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight_bin.c: visualize_data.bin: TRACE, SOURCE, API_FILE, API_INSTR, then what is ours. Blocks
 * are padded to 4 bytes; nothing follows the last one.
 */
#include <stdlib.h>

#include "codec/insight_blocks.h"
#include "export/insight/insight.h"

#define MAX_TABLE_BYTES (100u << 20) /* a larger block is an empty panel */
#define MAX_ROWS 1000000u
#define MAX_SOURCE_CHARS 1000000u
#define MAX_SOURCE_LINES 10000u
#define MAX_LINE_CHARS 10000u

static void put_head(FILE *f, uint64_t size, unsigned type, unsigned version)
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

static void put_block(FILE *f, const char *p, size_t n, unsigned type, unsigned version)
{
	put_head(f, n, type, version);
	fwrite(p, 1, n, f);
	put_padding(f, n);
}

/* trace.json as it was written. */
static bool put_trace(struct insight *s, FILE *f, struct incore_error *e)
{
	char *buf = mem_alloc(TEXT_OUT_BYTES);
	off_t size = ftello(s->trace_file);
	size_t n;

	if (!buf)
		return err_nomem(e);
	put_head(f, (uint64_t)size, INSIGHT_TRACE, INSIGHT_MARK);
	rewind(s->trace_file);
	while ((n = fread(buf, 1, TEXT_OUT_BYTES, s->trace_file)) > 0)
		fwrite(buf, 1, n, f);
	put_padding(f, (uint64_t)size);
	mem_free(buf);
	if (ferror(s->trace_file) || ferror(f))
		return err_write(e);
	return true;
}

/* What a source panel takes; more of it would be an empty panel. */
static bool fits(const struct source_file *k)
{
	uint32_t lines = 1, width = 0;

	if (k->text_len > MAX_SOURCE_CHARS)
		return false;
	for (size_t i = 0; i < k->text_len; i++) {
		width = k->text[i] == '\n' ? 0 : width + 1;
		lines += k->text[i] == '\n';
		if (width > MAX_LINE_CHARS || lines > MAX_SOURCE_LINES)
			return false;
	}
	return true;
}

static bool put_sources(struct insight *s, FILE *f, struct incore_error *e)
{
	char *path = mem_zalloc(1, INSIGHT_PATH_BYTES);

	if (!path)
		return err_nomem(e);
	for (source_idx i = 0; i < s->t->n_sources; i++) {
		const struct source_file *k = &s->t->sources[i];
		const char *name = insight_source_path(s, i);
		bool has_text = k->text && fits(k);

		if (!name) {
			mem_free(path);
			return err_nomem(e);
		}
		s->n_sources_left += k->text && !has_text;
		strncpy(path, name, INSIGHT_PATH_BYTES);
		put_head(f, has_text ? k->text_len : 0, INSIGHT_SOURCE, INSIGHT_MARK);
		fwrite(path, 1, INSIGHT_PATH_BYTES, f);
		if (has_text) {
			fwrite(k->text, 1, k->text_len, f);
			put_padding(f, k->text_len);
		}
	}
	mem_free(path);
	return true;
}

static bool put_tables(struct insight *s, FILE *f, struct incore_error *e)
{
	struct strbuf b = {0};
	bool has_lines = false, ok = insight_put_api_file(s, &b, &has_lines);

	if (!ok)
		err_nomem(e);
	else if (has_lines && b.n >= MAX_TABLE_BYTES)
		ok = err_set(e, INCORE_BAD_INPUT, "too-large",
			"the table of lines takes %zu bytes; the format allows 100 MB", b.n);
	if (ok && has_lines)
		put_block(f, b.p, b.n, INSIGHT_API_FILE, INSIGHT_MARK);
	sb_reset(&b);
	if (ok && s->t->n_code) {
		ok = insight_put_api_instr(s, &b) || err_nomem(e);
		if (ok && (b.n >= MAX_TABLE_BYTES || s->t->n_code > MAX_ROWS))
			ok = err_set(e, INCORE_BAD_INPUT, "too-large",
				"the table of %u instructions takes %zu bytes; the format allows 1,000,000 and 100 MB",
				s->t->n_code, b.n);
		if (ok)
			put_block(f, b.p, b.n, INSIGHT_API_INSTR, 0);
	}
	sb_free(&b);
	return ok;
}

/* All that is not a slice, for us: viewers skip this type. */
static bool put_own(struct insight *s, FILE *f, struct incore_error *e)
{
	char *bytes = NULL;
	size_t n = 0;
	bool ok = insight_own_bytes(s, &bytes, &n, e);

	if (ok && n)
		put_block(f, bytes, n, INSIGHT_TABLES, INSIGHT_MARK);
	free(bytes);
	return ok;
}

bool insight_write_bin(struct insight *s, struct incore_error *e)
{
	FILE *f = insight_file(s, NULL, "visualize_data.bin", e);
	bool ok;

	if (!f)
		return false;
	ok = put_trace(s, f, e) && put_sources(s, f, e) && put_tables(s, f, e) && put_own(s, f, e);
	return out_dir_done(&s->dir, f, "visualize_data.bin", ok ? e : NULL) && ok;
}
