/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add.c: adds a capture to a store. Its tables are computed before the transaction begins, so that
 * other writers only wait for the writing.
 */
#include <stdio.h>
#include <time.h>

#include "base/search.h"
#include "base/sha256.h"
#include "store/row.h"
#include "store/schema.h"

#define CODE_DIGITS 16 /* of the hash of a listing; it only names it within a store */

/* --- labels and times --- */

static int store_add_by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool check_label(const char *word, struct incore_error *e)
{
	const char *equals = strchr(word, '=');

	for (const unsigned char *p = (const unsigned char *)word; *p; p++)
		if (*p < 0x20 || *p == 0x7f || *p == ',')
			equals = NULL;
	if (equals && equals > word)
		return true;
	return err_set(e, INCORE_USAGE, "bad-label",
		"'%s' is not a label: expected KEY=VALUE without commas or control characters",
		word);
}

const char *store_labels(struct arena *a, const struct text_list *words, struct incore_error *e)
{
	const char **v = arena_zalloc(a, words->n + 1, sizeof(*v));
	struct strbuf b = {0};
	const char *out;

	if (!v)
		return err_nomem_null(e);
	for (size_t i = 0; i < words->n; i++) {
		if (!check_label(words->v[i], e))
			return NULL;
		v[i] = words->v[i];
	}
	SORT(v, words->n, store_add_by_text);
	for (size_t i = 0; i < words->n; i++)
		sb_printf(&b, "%s%s", i ? "," : "", v[i]);
	out = b.failed ? NULL : arena_strndup(a, b.p ? b.p : "", b.n);
	sb_free(&b);
	return out ? out : err_nomem_null(e);
}

bool store_time(const char *text, int64_t *out)
{
	int y, mo, d, h = 0, mi = 0, s = 0, n = 0, end = 0;
	struct tm tm;

	if (text[0] == '@')
		return str_to_i64(str_of(text + 1), out) && *out >= 0;
	/* NOLINTNEXTLINE(cert-err34-c): numbers with so few digits always fit */
	n = sscanf(text, "%4d-%2d-%2d%nT%2d:%2d:%2dZ%n", &y, &mo, &d, &end, &h, &mi, &s, &end);
	if ((n != 3 && n != 6) || text[end] || y < 1970 || mo < 1 || mo > 12 || d < 1 || d > 31 ||
		h < 0 || h > 23 || mi < 0 || mi > 59 || s < 0 || s > 60)
		return false;
	tm = (struct tm){.tm_year = y - 1900,
		.tm_mon = mo - 1,
		.tm_mday = d,
		.tm_hour = h,
		.tm_min = mi,
		.tm_sec = s};
	*out = timegm(&tm);
	return tm.tm_mday == d; /* reject days that the month does not have */
}

/* --- identity --- */

/* Hashes the texts of the rows, as compared by diff: addresses may differ. */
static void hash_code(const struct trace *t, char out[CODE_DIGITS + 1])
{
	struct sha256 h;
	char hex[65];

	sha256_init(&h);
	for (code_idx i = 0; i < t->n_code; i++)
		sha256_add(&h, t->code[i].text, strlen(t->code[i].text) + 1);
	sha256_hex(&h, hex);
	memcpy(out, hex, CODE_DIGITS);
	out[CODE_DIGITS] = 0;
}

static void hash_text(struct sha256 *h, const char *text)
{
	sha256_add(h, text ? text : "", text ? strlen(text) + 1 : 0);
	sha256_add(h, "", 1);
}

static void store_add_hash_entry(
	const struct store_entry *x, const struct store_identity *id, char hex[65])
{
	struct sha256 h;

	sha256_init(&h);
	hash_text(&h, id->path);
	hash_text(&h, x->labels);
	hash_text(&h, x->revision);
	hash_text(&h, x->code);
	sha256_add(&h, x->figure, sizeof(x->figure));
	sha256_add(&h, &id->at, sizeof(id->at));
	sha256_hex(&h, hex);
}

static int64_t duration_of(const struct trace *t)
{
	int64_t last = NO_I64, first = INT64_MAX;

	for (track_idx i = 0; i < t->n_tracks; i++) {
		const struct track *k = &t->tracks[i];
		int64_t begin = trace_aligned(t, k->clock, k->begin_cyc);
		int64_t end = trace_aligned(t, k->clock, k->end_cyc);

		first = begin < first ? begin : first;
		last = end > last ? end : last;
	}
	return t->n_tracks ? last - first : NO_I64;
}

/* --- its tables --- */

#define CAUSES "causes"

struct adding {
	struct store *s;
	struct store_table tables[STORE_TABLES];
	struct table_cursor *cursors[STORE_TABLES];
	struct table_batch first[STORE_TABLES]; /* computed before the transaction */
	struct table_analyses *analyses;	/* one walk shared by all tables */
	uint32_t n_unread;
};

/* Fills in the figures that are sums of causes; without any causes they stay unknown. */
static bool sum_causes(struct table_cursor *c, struct store_entry *out, struct incore_error *e)
{
	const struct table *t = table_find(CAUSES);
	int bucket = table_column(t, "bucket"), cycles = table_column(t, "cycles");
	struct table_batch b;
	bool ok;

	while ((ok = table_next(c, &b, e)) && b.n)
		for (uint32_t i = 0; i < b.n; i++) {
			const char *name = ((const char *const *)b.column[bucket])[i];
			int64_t n = (int64_t)((const uint64_t *)b.column[cycles])[i];

			for (unsigned k = STORE_CYCLES; k <= STORE_DRAIN; k++)
				if (k == STORE_CYCLES || strcmp(name, store_figures[k]) == 0)
					out->figure[k] =
						(out->figure[k] == NO_I64 ? 0 : out->figure[k]) + n;
		}
	return ok;
}

static bool store_add_make_tables(
	struct adding *x, const struct trace *t, struct store_entry *y, struct incore_error *e)
{
	struct table_scan scan = TABLE_SCAN_ALL;

	scan.analyses = x->analyses = table_analyses_new();
	if (!x->analyses)
		return err_nomem(e);
	for (unsigned i = 0; i < STORE_TABLES; i++) {
		struct table_cursor *c;
		bool is_causes = strcmp(x->tables[i].sql.name, CAUSES) == 0;

		if (!x->tables[i].table)
			continue;
		c = x->cursors[i] = table_open(x->tables[i].table, t, &scan, e);
		if (!c || (is_causes && !sum_causes(c, y, e)))
			return false;
		if (is_causes)
			table_rescan(c, &scan);
		if (!table_next(c, &x->first[i], e))
			return false;
		if (table_failed(c) > x->n_unread) /* counted in each walk */
			x->n_unread = table_failed(c);
	}
	return true;
}

static void free_tables(struct adding *x)
{
	for (unsigned i = 0; i < STORE_TABLES; i++)
		table_close(x->cursors[i]);
	table_analyses_free(x->analyses);
}

/* --- writing --- */

static bool write_batch(struct store *s, const struct table *t, const struct table_batch *b,
	uint64_t capture, struct incore_error *e)
{
	uint16_t number = (uint16_t)table_column(t, TABLE_CAPTURE);

	for (uint32_t i = 0; i < b->n; i++) {
		for (uint16_t k = 0; k < t->record->n_columns; k++) {
			struct store_value v = k == number ? V_INT(capture)
							   : store_value_of(&t->record->columns[k],
								     table_value(t, b, k, i));

			s->backend->put(s, &v);
		}
		if (!s->backend->row(s, e))
			return false;
	}
	return true;
}

static bool store_add_write_table(
	struct adding *x, unsigned at, uint64_t capture, struct incore_error *e)
{
	const struct store_backend *to = x->s->backend;
	struct table_batch b = x->first[at];
	bool ok = true;

	if (!b.n)
		return true;
	if (!to->rows(x->s, at, e))
		return false;
	while (ok && b.n)
		ok = write_batch(x->s, x->tables[at].table, &b, capture, e) &&
		     table_next(x->cursors[at], &b, e);
	return to->rows_end(x->s, ok, e);
}

static bool write_entry(struct adding *x, const struct store_entry *y, struct incore_error *e)
{
	const struct store_backend *to = x->s->backend;

	if (!to->rows(x->s, 0, e))
		return false;
	store_put_values(x->s, &store_entries_record, y);
	return to->rows_end(x->s, to->row(x->s, e), e);
}

/* Finds the number of the capture if it is in the store, otherwise the next free number. */
static bool store_add_find_number(
	struct store *s, const char *digest, struct store_added *out, struct incore_error *e)
{
	struct store_query *q = store_ask(s,
		"SELECT capture, 1 AS there FROM entries WHERE digest = $1 UNION ALL "
		"SELECT coalesce(max(capture), 0) + 1, 0 FROM entries ORDER BY there DESC LIMIT 1",
		e, V_TEXT(digest));
	bool ok = q && store_step(s, q, e);

	if (ok) {
		int64_t n = store_int(s, q, 0);

		out->is_there = store_int(s, q, 1) != 0;
		out->capture = (uint64_t)n;
		ok = (n > 0 && n < UINT32_MAX) ||
		     err_file(e, "bad-store", s->path, INCORE_NO_OFFSET,
			     "%lld is not the number of a capture: incore store ls lists them",
			     (long long)n);
	}
	store_done(s, q);
	return ok;
}

static bool write_all_tables(
	struct adding *x, struct store_entry *y, struct store_added *out, struct incore_error *e)
{
	bool ok;

	if (!store_begin(x->s, STORE_WRITE, e))
		return false;
	ok = store_add_find_number(x->s, y->digest, out, e);
	y->capture = out->capture;
	if (ok && !out->is_there) {
		ok = write_entry(x, y, e);
		for (unsigned i = 0; ok && i < STORE_TABLES; i++)
			if (x->tables[i].table)
				ok = store_add_write_table(x, i, out->capture, e);
	}
	return store_end(x->s, ok, e);
}

bool store_add(struct store *s, const struct trace *t, const struct store_identity *id,
	struct store_added *out, struct incore_error *e)
{
	struct adding x = {.s = s};
	char code[CODE_DIGITS + 1], digest[65];
	struct store_entry y = {.at = id->at == NO_I64 ? (int64_t)time(NULL) : id->at,
		.labels = id->labels,
		.revision = id->revision,
		.code = code,
		.path = id->path,
		.incore = INCORE_VERSION,
		.format_version = t->meta.format_version,
		.digest = digest,
		.figure = {duration_of(t), NO_I64, NO_I64, NO_I64, NO_I64, NO_I64, NO_I64, NO_I64}};
	bool ok;

	*out = (struct store_added){0};
	store_tables(x.tables);
	hash_code(t, code);
	ok = store_add_make_tables(&x, t, &y, e);
	if (t->n_tracks && y.figure[STORE_CYCLES] != NO_I64)
		y.figure[STORE_PER_TRACK] = y.figure[STORE_CYCLES] / t->n_tracks;
	store_add_hash_entry(&y, id, digest);
	ok = ok && write_all_tables(&x, &y, out, e);
	out->unread = x.n_unread;
	free_tables(&x);
	return ok;
}
