/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight_bin.c: visualize_data.bin: TRACE, SOURCE, API_FILE, API_INSTR, details, then our own
 * block. Blocks are padded to 4 bytes; nothing follows the last one.
 */
#include <stdlib.h>

#include "codec/insight_blocks.h"
#include "export/insight/insight.h"

#define MAX_TABLE_BYTES (100u << 20) /* the viewer shows a larger block as an empty panel */
#define MAX_ROWS 1000000u

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

/* Copies the finished trace.json. */
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

/* Writes the sources. The viewer opens the first by name: those with neither text nor lines are
 * left out, as they would be an empty page. */
static bool put_sources(struct insight *s, FILE *f, struct incore_error *e)
{
	char path[INSIGHT_PATH_BYTES];
	struct strbuf b = {0};
	bool ok = true;

	for (source_idx i = 0; ok && i < s->t->n_sources; i++) {
		const struct source_file *k = &s->t->sources[i];
		bool is_large = k->text_len > MAX_TABLE_BYTES;

		if (!s->has_block[i])
			continue;
		sb_reset(&b);
		s->n_sources_left += is_large;
		if (k->text_len && !is_large)
			s->n_bytes_replaced +=
				insight_put_utf8(&b, (struct str){k->text, k->text_len});
		else
			insight_placeholder(s, i, &b);
		ok = !b.failed || err_nomem(e);
		memset(path, 0, sizeof(path));
		memcpy(path, s->paths[i], strlen(s->paths[i]));
		put_head(f, b.n, INSIGHT_SOURCE, INSIGHT_MARK);
		fwrite(path, 1, sizeof(path), f);
		fwrite(b.p, 1, b.n, f);
		put_padding(f, b.n);
	}
	sb_free(&b);
	return ok;
}

/* Writes a table; one too large for the viewer is left out and counted. */
static void put_table(
	struct insight *s, FILE *f, const struct strbuf *b, uint64_t n_rows, unsigned type)
{
	if (b->n >= MAX_TABLE_BYTES || n_rows > MAX_ROWS)
		s->n_rows_left += n_rows;
	else
		put_block(f, b->p, b->n, type, type == INSIGHT_API_INSTR ? 0 : INSIGHT_MARK);
}

static bool put_tables(struct insight *s, FILE *f, struct incore_error *e)
{
	struct strbuf b = {0};
	uint64_t n_rows = s->n_lines;
	bool ok = true;

	if (n_rows) {
		ok = insight_put_api_file(s, &b);
		if (ok)
			put_table(s, f, &b, n_rows, INSIGHT_API_FILE);
		sb_reset(&b);
	}
	if (ok && s->t->n_code) {
		ok = insight_put_api_instr(s, &b, &n_rows);
		if (ok)
			put_table(s, f, &b, n_rows, INSIGHT_API_INSTR);
	}
	for (unsigned type = INSIGHT_BASE_INFO; ok && type <= INSIGHT_TOP_STALL; type++) {
		sb_reset(&b);
		ok = insight_put_detail(s, type, &b);
		if (ok && b.n)
			put_block(f, b.p, b.n, type, INSIGHT_MARK);
	}
	sb_free(&b);
	return ok || err_nomem(e);
}

/* Writes all other data of the trace for our own importer; viewers skip this type. */
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
	ok = (insight_find_lines(s) || err_nomem(e)) && put_trace(s, f, e) &&
	     put_sources(s, f, e) && put_tables(s, f, e) && put_own(s, f, e);
	return out_dir_done(&s->dir, f, "visualize_data.bin", ok ? e : NULL) && ok;
}
