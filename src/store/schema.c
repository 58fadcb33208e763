/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c: creates the tables of a store, checks them before they are used, and upgrades them to
 * the version that this program writes. Columns are those of the tables of a trace; columns that
 * were added there later are added here, too.
 */
#include "store/schema.h"

#include <strings.h>

#include "store/accept.h"
#include "tables/tables.h"

#define FIGURE(AT, NAME, DOC) COLUMN_AS(store_entry, figure[AT], NAME, UNIT_CYCLES, DOC, NULLABLE)
#define FIGURES                                                                                    \
	FIGURE(STORE_DURATION, "duration",                                                         \
		"cycles from the first begin of a track to the last end"),                         \
		FIGURE(STORE_CYCLES, "cycles",                                                     \
			"cycles of all tracks together; for samples: samples times their period"), \
		FIGURE(STORE_ISSUE, "issue", "issue cycles of all tracks"),                        \
		FIGURE(STORE_STALL, "stall", "stall cycles of all tracks"),                        \
		FIGURE(STORE_WAIT, "wait", "wait cycles of all tracks"),                           \
		FIGURE(STORE_IDLE, "idle", "idle cycles of all tracks"),                           \
		FIGURE(STORE_DRAIN, "drain", "drain cycles of all tracks"),                        \
		FIGURE(STORE_PER_TRACK, "per_track", "cycles of the mean track")
#define CAPTURE COLUMN(store_entry, capture, UNIT_INDEX, "number of the capture in the store")
#define LABELS                                                                                     \
	COLUMN(store_entry, labels, UNIT_NONE,                                                     \
		"labels as key=value, sorted by key, separated by commas")
#define REVISION                                                                                   \
	COLUMN(store_entry, revision, UNIT_NONE, "revision of the source, as it was given",        \
		NULLABLE)
#define CODE                                                                                       \
	COLUMN(store_entry, code, UNIT_NONE, "hash of the listing; equal for equal instructions")
#define PATH COLUMN(store_entry, path, UNIT_NONE, "absolute path that the capture was read from")
#define INCORE COLUMN(store_entry, incore, UNIT_NONE, "version of incore that added the capture")

const char *const store_figures[STORE_FIGURES] = {
	"duration", "cycles", "issue", "stall", "wait", "idle", "drain", "per_track"};

static const struct column entry_columns[] = {
	CAPTURE,
	COLUMN(store_entry, at, UNIT_NONE,
		"time at which the capture was taken, in seconds since 1970"),
	LABELS,
	REVISION,
	CODE,
	PATH,
	INCORE,
	COLUMN(store_entry, format_version, UNIT_NONE,
		"version of the format, as the capture states it", NULLABLE),
	COLUMN(store_entry, digest, UNIT_NONE, "hash of the capture; equal for the same capture"),
	FIGURES,
};
const struct record store_entries_record = RECORD_OF(store_entry, RECORD_LINE, entry_columns);

static const struct column listed_columns[] = {
	CAPTURE,
	COLUMN(store_entry, time, UNIT_NONE, "time at which the capture was taken, UTC"),
	COLUMN(store_entry, kernel, UNIT_NONE, "name of the kernel", NULLABLE),
	COLUMN(store_entry, arch, UNIT_NONE, "architecture", NULLABLE),
	COLUMN(store_entry, evidence, UNIT_NONE, "what the figures rest on"),
	LABELS,
	REVISION,
	CODE,
	PATH,
	INCORE,
	FIGURES,
};
const struct record store_entry_record = RECORD_OF(store_entry, RECORD_LINE, listed_columns);

void store_tables(struct store_table out[STORE_TABLES])
{
	static const struct {
		const char *name, *key;
	} kept[] = {
		{"captures", "PRIMARY KEY(capture)"},
		{"code", NULL},
		{"causes", NULL},
		{"producers", NULL},
		{"findings", NULL},
		{"notes", NULL},
	};

	out[0] = (struct store_table){.sql = {"entries", "what a capture is and its figures",
					      &store_entries_record, "PRIMARY KEY(capture)"}};
	for (unsigned i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		const struct table *t = table_find(kept[i].name);

		out[i + 1] = (struct store_table){{t->name, t->doc, t->record, kept[i].key}, t};
	}
	out[STORE_ACCEPTANCES] = (struct store_table){
		.sql = {"acceptances", "regressions that somebody accepted, and why",
			&store_acceptances_record, "PRIMARY KEY(acceptance)"}};
}

/* --- creating --- */

static const char MORE[] =
	"CREATE UNIQUE INDEX entries_digest ON entries(digest);"
	"CREATE INDEX code_capture ON code(capture, row);"
	"CREATE INDEX causes_capture ON causes(capture);"
	"CREATE INDEX producers_capture ON producers(capture, row);"
	"CREATE INDEX findings_capture ON findings(capture);"
	"CREATE INDEX notes_capture ON notes(capture);"
	"CREATE VIEW kernels AS SELECT kernel, arch, evidence, labels, count(*) AS captures,"
	" min(at) AS first, max(at) AS last FROM entries JOIN captures USING (capture)"
	" GROUP BY kernel, arch, evidence, labels;"
	"CREATE VIEW lines AS SELECT causes.capture AS capture, line, cause, sum(cycles) AS cycles,"
	" sum(hits) AS hits FROM causes JOIN code USING (capture, row) GROUP BY 1, 2, 3;";

bool schema_fill(struct store *s, struct incore_error *e)
{
	struct store_table tables[STORE_TABLES];
	struct strbuf b = {0};
	bool ok;

	store_tables(tables);
	for (unsigned i = 0; i < STORE_TABLES; i++) {
		s->backend->put_create(&b, &tables[i].sql);
		sb_putc(&b, ';');
	}
	sb_puts(&b, MORE);
	s->backend->put_version(&b);
	ok = b.failed ? err_nomem(e) : store_run(s, b.p, e);
	sb_free(&b);
	return ok;
}

bool schema_make(struct store *s, struct incore_error *e)
{
	return store_begin(s, STORE_WRITE, e) && store_end(s, schema_fill(s, e), e);
}

/* --- checking --- */

static bool is_no_store(const struct store *s, const char *why, struct incore_error *e)
{
	return err_file(e, "bad-store", s->path, INCORE_NO_OFFSET, "%s", why);
}

enum store_type store_type_of(const struct column *c)
{
	return c->type == COLUMN_TEXT ? STORE_TEXT : c->type == COLUMN_F64 ? STORE_REAL : STORE_INT;
}

static const char *type_name(const struct store *s, const struct column *c)
{
	return s->backend->types[store_type_of(c) - STORE_INT];
}

/* Adds a column that is missing in a table of an earlier version. */
static bool store_schema_add_column(struct store *s, const struct sqlite_table *t,
	const struct column *c, struct incore_error *e)
{
	struct strbuf b = {0};
	bool ok;

	sb_printf(&b, "ALTER TABLE \"%s\" ADD COLUMN \"%s\" %s%s", t->name, c->name,
		type_name(s, c),
		sqlite_is_nullable(c)	 ? ""
		: c->type == COLUMN_TEXT ? " NOT NULL DEFAULT ''"
					 : " NOT NULL DEFAULT 0");
	ok = b.failed ? err_nomem(e) : store_run(s, b.p, e);
	sb_free(&b);
	return ok;
}

/* Index of the column that the row of q describes; n_columns if it is not a valid one. */
static uint16_t store_schema_find_column(
	struct store *s, struct store_query *q, const struct record *r)
{
	const char *name = s->backend->value(q, 0, STORE_TEXT).text;
	const char *type = s->backend->value(q, 1, STORE_TEXT).text;
	uint16_t i = 0;

	while (i < r->n_columns && (!name || strcmp(r->columns[i].name, name) != 0))
		i++;
	return i < r->n_columns && type && store_int(s, q, 2) == 0 &&
			       strcasecmp(type, type_name(s, &r->columns[i])) == 0
		       ? i
		       : r->n_columns;
}

/* Finds which columns of the record exist, one bit each. Rejects anything but plain columns of the
 * right type: a store may come from anyone. */
static bool see_columns(
	struct store *s, const struct sqlite_table *t, uint64_t *seen, struct incore_error *e)
{
	struct store_query *q = store_ask(s, s->backend->columns, e, V_TEXT(t->name));
	bool ok = true;

	*seen = 0;
	if (!q)
		return false;
	while (ok && store_step(s, q, e)) {
		uint16_t i = store_schema_find_column(s, q, t->record);

		ok = i < t->record->n_columns;
		*seen |= ok ? UINT64_C(1) << i : 0;
	}
	store_done(s, q);
	if (!ok)
		return is_no_store(
			s, "not a store of incore: a column is not what it should be", e);
	return !e->code;
}

/* Adds the table of acceptances, which stores of version 1 do not have. */
static bool store_schema_add_table(
	struct store *s, const struct sqlite_table *t, struct incore_error *e)
{
	struct strbuf b = {0};
	bool ok;

	s->backend->put_create(&b, t);
	ok = b.failed ? err_nomem(e) : store_run(s, b.p, e);
	sb_free(&b);
	return ok;
}

/* Checks that a table has the columns of its record; is_mended: adds missing ones. */
static bool check_table(
	struct store *s, const struct sqlite_table *t, bool is_mended, struct incore_error *e)
{
	uint64_t seen;

	if (!see_columns(s, t, &seen, e))
		return false;
	if (!(seen & 1) && is_mended && t->record == &store_acceptances_record)
		return store_schema_add_table(s, t, e);
	if (!(seen & 1))
		return is_no_store(s, "not a store of incore: a table is missing", e);
	for (uint16_t i = 0; i < t->record->n_columns; i++) {
		if (seen >> i & 1)
			continue;
		if (!is_mended)
			return is_no_store(s, "not a store of incore: a column is missing", e);
		if (!store_schema_add_column(s, t, &t->record->columns[i], e))
			return false;
	}
	return true;
}

static bool store_schema_check_tables(struct store *s, bool is_mended, struct incore_error *e)
{
	struct store_table tables[STORE_TABLES];

	if (!s->backend->is_safe(s, e))
		return false;
	store_tables(tables);
	for (unsigned i = 0; i < STORE_TABLES; i++)
		if (!check_table(s, &tables[i].sql, is_mended, e))
			return false;
	return true;
}

/* Reads the version; fails for an unknown one. */
static bool look_version(struct store *s, int64_t *version, struct incore_error *e)
{
	int64_t application;

	if (!s->backend->version(s, &application, version, e))
		return false;
	if (application != SCHEMA_APPLICATION)
		return is_no_store(s, "not a store of incore", e);
	return *version <= SCHEMA_VERSION ||
	       is_no_store(s, "a store of a newer incore: this one does not know it", e);
}

/* Upgrades a store; if several processes try it at once, the first one does it. */
static bool upgrade(struct store *s, struct incore_error *e)
{
	struct strbuf b = {0};
	int64_t version;
	bool ok;

	if (!store_begin(s, STORE_WRITE, e))
		return false;
	s->backend->put_version(&b);
	ok = look_version(s, &version, e) &&
	     store_schema_check_tables(s, version < SCHEMA_VERSION, e) &&
	     (b.failed ? err_nomem(e) : store_run(s, b.p, e));
	sb_free(&b);
	return store_end(s, ok, e);
}

bool schema_check(struct store *s, struct incore_error *e)
{
	int64_t version;

	if (!look_version(s, &version, e))
		return false;
	return version < SCHEMA_VERSION ? upgrade(s, e) : store_schema_check_tables(s, false, e);
}
