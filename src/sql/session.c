/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c: a database without a file, whose tables are the captures. Forbidden queries fail when
 * they are prepared; those that take too long or too much memory are stopped. Parts: functions; the
 * session.
 */
#include <math.h>
#include <pthread.h>
#include <time.h>

#include "base/search.h"
#include "sql/internal.h"

/* --- functions -------------------------------------------------------------------------------- */

/*
 * Aggregates that SQLite lacks: median(x) and quantile(x, p), by the same rule as in the verbs:
 * sorted[min(n - 1, floor(p * n))]. Their buffers count as memory of the query.
 */

struct quantile {
	double *v;
	uint64_t n, cap;
	double p;
	bool is_real; /* some value is not an integer */
};

static void sql_functions_add_value(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct quantile *q = sqlite3_aggregate_context(ctx, sizeof(*q));
	int type = sqlite3_value_numeric_type(argv[0]);

	if (!q) {
		sqlite3_result_error_nomem(ctx);
		return;
	}
	q->p = argc > 1 ? sqlite3_value_double(argv[1]) : 0.5;
	if (!(q->p >= 0 && q->p <= 1)) {
		sqlite3_result_error(ctx, "quantile(x, p) needs p from 0 to 1", -1);
		return;
	}
	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return; /* NULL is ignored, as in other aggregates */
	if (q->n == q->cap) {
		uint64_t cap = q->cap ? 2 * q->cap : 64;
		double *v = sqlite3_realloc64(q->v, cap * sizeof(*v));

		if (!v) {
			sqlite3_result_error_nomem(ctx);
			return;
		}
		q->v = v;
		q->cap = cap;
	}
	q->is_real |= type == SQLITE_FLOAT;
	q->v[q->n++] = sqlite3_value_double(argv[0]);
}

static int compare_values(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return COMPARE(*a, *b);
}

static void give_quantile(sqlite3_context *ctx)
{
	struct quantile *q = sqlite3_aggregate_context(ctx, 0);
	uint64_t at;

	if (!q)
		return;
	if (q->n) {
		SORT(q->v, q->n, compare_values);
		at = (uint64_t)floor(q->p * (double)q->n);
		at = at < q->n ? at : q->n - 1;
		if (q->is_real)
			sqlite3_result_double(ctx, q->v[at]);
		else
			sqlite3_result_int64(ctx, (int64_t)q->v[at]);
	}
	sqlite3_free(q->v);
	q->v = NULL;
}

static bool sql_add_functions(struct sql *s, struct incore_error *e)
{
	int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

	return (sqlite3_create_function(s->db, "median", 1, flags, NULL, NULL,
			sql_functions_add_value, give_quantile) == SQLITE_OK &&
		       sqlite3_create_function(s->db, "quantile", 2, flags, NULL, NULL,
			       sql_functions_add_value, give_quantile) == SQLITE_OK) ||
	       err_nomem(e);
}

/* --- the session ------------------------------------------------------------------------------ */

bool sql_is_built(void)
{
	return true;
}

/* --- what is allowed --- */

/* Is it a function that reaches outside the query? Some builds of SQLite have such functions. */
static bool is_forbidden_function(const char *name)
{
	static const char *const words[] = {"load_extension", "readfile", "writefile", "edit",
		"fts3_tokenizer", "sqlite_compileoption_get", NULL};

	for (unsigned i = 0; words[i]; i++)
		if (sqlite3_stricmp(name, words[i]) == 0)
			return true;
	return false;
}

static bool is_allowed_pragma(const char *name, const char *value)
{
	static const char *const words[] = {"table_info", "table_xinfo", "table_list",
		"function_list", "module_list", "pragma_list", NULL};

	(void)value; /* in these it is the name of a table, and nothing is changed */
	for (unsigned i = 0; words[i]; i++)
		if (sqlite3_stricmp(name, words[i]) == 0)
			return true;
	return false;
}

static int authorize(void *ctx, int action, const char *a, const char *b, const char *database,
	const char *inner)
{
	const struct sql *s = ctx;

	(void)database;
	(void)inner;
	if (s->is_declaring)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return b && is_forbidden_function(b) ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_PRAGMA:
		return a && is_allowed_pragma(a, b) ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

static void set_limits(sqlite3 *db)
{
	static const struct {
		int id, most;
	} limits[] = {
		{SQLITE_LIMIT_LENGTH, 4 << 20},
		{SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
		{SQLITE_LIMIT_COLUMN, SQL_MAX_COLUMNS},
		{SQLITE_LIMIT_EXPR_DEPTH, 200},
		{SQLITE_LIMIT_COMPOUND_SELECT, 100},
		{SQLITE_LIMIT_VDBE_OP, 200000},
		{SQLITE_LIMIT_FUNCTION_ARG, 100},
		{SQLITE_LIMIT_ATTACHED, 0},
		{SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500},
		{SQLITE_LIMIT_VARIABLE_NUMBER, 0},
		{SQLITE_LIMIT_TRIGGER_DEPTH, 1},
		{SQLITE_LIMIT_WORKER_THREADS, 0},
	};

	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(db, limits[i].id, limits[i].most);
}

/* --- errors --- */

int sql_table_failed(struct sql *s, struct incore_error *e)
{
	err_move(&s->error, e);
	return err_is(&s->error, "no-memory") ? SQLITE_NOMEM : SQLITE_ERROR;
}

/* Reports a mistake in the query, with its position. */
static bool sql_session_fail_at(
	const char *text, int offset, const char *message, struct incore_error *e)
{
	if (offset < 0)
		return err_set(e, INCORE_USAGE, "bad-sql", "%s", message);
	err_file(e, "bad-sql", "query", (uint64_t)offset, "%s", message);
	e->status = INCORE_USAGE;
	e->line = e->column = 1;
	for (int i = 0; i < offset && text[i]; i++) {
		e->column++;
		if (text[i] == '\n') {
			e->line++;
			e->column = 1;
		}
	}
	return false;
}

static bool fail_time(const struct sql *s, struct incore_error *e)
{
	return err_set(e, INCORE_FAILED, "sql-timeout",
		"the query took longer than %llu second%s (--timeout)",
		(unsigned long long)s->limits.timeout_s, plural(s->limits.timeout_s));
}

static bool fail_limit(struct sql *s, int code, struct incore_error *e)
{
	if (code == SQLITE_NOMEM)
		return err_set(e, INCORE_FAILED, "sql-memory",
			"the query needs more than %llu MiB of memory (--memory)",
			(unsigned long long)(s->limits.memory_bytes >> 20));
	return fail_time(s, e);
}

/* Reports an error of SQLite, or of one of our tables. */
static bool fail_query(struct sql *s, int code, const char *text, struct incore_error *e)
{
	int offset = sqlite3_error_offset(s->db);

	code &= 0xff;
	if (code == SQLITE_NOMEM || code == SQLITE_INTERRUPT || err_is(&s->error, "cancelled")) {
		incore_error_clear(&s->error);
		return fail_limit(s, code, e);
	}
	if (s->error.status != INCORE_OK) {
		err_move(e, &s->error);
		return false;
	}
	if (code == SQLITE_TOOBIG)
		return err_set(e, INCORE_FAILED, "sql-limit",
			"a value or the query is too long: %s", sqlite3_errmsg(s->db));
	if (code == SQLITE_AUTH)
		return err_set(e, INCORE_USAGE, "sql-denied",
			"a query only reads the tables of captures: %s", sqlite3_errmsg(s->db));
	return sql_session_fail_at(text, offset, sqlite3_errmsg(s->db), e);
}

static bool fail_open(struct sql *s, struct incore_error *e)
{
	return err_set(e, INCORE_FAILED, "sqlite-failed", "SQLite: %s",
		s->db ? sqlite3_errmsg(s->db) : "cannot be started");
}

/* --- time --- */

struct watch { /* stops a query that takes too long */
	struct sql *sql;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct timespec until;
	bool is_over, is_running;
};

/* Waits for the end of the query, with the lock held; false: the time is up. */
static bool ends_in_time(struct watch *w)
{
	int why = 0;

	while (!w->is_over && !why)
		why = pthread_cond_timedwait(&w->wake, &w->lock, &w->until);
	return w->is_over;
}

static void *watch_main(void *ctx)
{
	struct watch *w = ctx;
	struct sql *s = w->sql;
	struct incore_error e = {0};

	pthread_mutex_lock(&w->lock);
	if (!ends_in_time(w)) {
		progress_cancel(s->progress);
		sqlite3_interrupt(s->db);
		w->until.tv_nsec += SQL_GRACE_MS * 1000000L;
		w->until.tv_sec += w->until.tv_nsec / 1000000000L;
		w->until.tv_nsec %= 1000000000L;
		if (s->limits.on_stuck && !ends_in_time(w)) {
			fail_time(s, &e);
			s->limits.on_stuck(s->limits.stuck_ctx, &e);
		}
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static bool watch_begin(struct watch *w, struct sql *s, struct incore_error *e)
{
	pthread_condattr_t clock;

	*w = (struct watch){.sql = s};
	progress_restart(s->progress);
	if (!s->limits.timeout_s)
		return true;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &clock);
	pthread_condattr_destroy(&clock);
	clock_gettime(CLOCK_MONOTONIC, &w->until);
	w->until.tv_sec += (time_t)s->limits.timeout_s;
	w->is_running = pthread_create(&w->thread, NULL, watch_main, w) == 0;
	if (w->is_running)
		return true;
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	return err_set(e, INCORE_FAILED, "no-thread", "the clock of the query cannot be started");
}

static void watch_end(struct watch *w)
{
	if (!w->is_running)
		return;
	pthread_mutex_lock(&w->lock);
	w->is_over = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
}

/* --- a query --- */

static struct sql_value sql_session_value_of(sqlite3_stmt *q, int i)
{
	struct sql_value v = {.type = SQL_NULL};

	switch (sqlite3_column_type(q, i)) {
	case SQLITE_INTEGER:
		v.type = SQL_INT;
		v.i = sqlite3_column_int64(q, i);
		break;
	case SQLITE_FLOAT:
		v.type = SQL_REAL;
		v.d = sqlite3_column_double(q, i);
		break;
	case SQLITE_TEXT:
		v.type = SQL_TEXT;
		v.bytes.p = (const char *)sqlite3_column_text(q, i);
		v.bytes.n = (size_t)sqlite3_column_bytes(q, i);
		break;
	case SQLITE_BLOB:
		v.type = SQL_BLOB;
		v.bytes.p = sqlite3_column_blob(q, i);
		v.bytes.n = (size_t)sqlite3_column_bytes(q, i);
		break;
	}
	return v;
}

static bool sql_session_send_rows(struct sql *s, sqlite3_stmt *q, const char *text,
	const struct sql_sink *sink, struct sql_result *out, struct incore_error *e)
{
	unsigned n = (unsigned)sqlite3_column_count(q);
	struct sql_value row[SQL_MAX_COLUMNS];
	int code;

	while ((code = sqlite3_step(q)) == SQLITE_ROW) {
		if (out->n_rows == s->limits.max_rows) {
			out->is_cut = true;
			return true;
		}
		for (unsigned i = 0; i < n; i++)
			row[i] = sql_session_value_of(q, (int)i);
		if (!sink->row(sink->ctx, row, n, e))
			return false;
		out->n_rows++;
	}
	return code == SQLITE_DONE || fail_query(s, code, text, e);
}

static bool send_result(struct sql *s, sqlite3_stmt *q, const char *text,
	const struct sql_sink *sink, struct sql_result *out, struct incore_error *e)
{
	unsigned n = (unsigned)sqlite3_column_count(q);
	const char *names[SQL_MAX_COLUMNS];

	if (n > SQL_MAX_COLUMNS)
		return err_set(e, INCORE_USAGE, "sql-limit",
			"the result has %u columns, more than %u", n, SQL_MAX_COLUMNS);
	if (!sqlite3_stmt_readonly(q))
		return err_set(
			e, INCORE_USAGE, "sql-denied", "a query only reads the tables of captures");
	for (unsigned i = 0; i < n; i++) {
		names[i] = sqlite3_column_name(q, (int)i);
		if (!names[i])
			return err_nomem(e);
	}
	return sink->columns(sink->ctx, names, n, e) &&
	       sql_session_send_rows(s, q, text, sink, out, e);
}

bool sql_run(struct sql *s, const char *text, const char **rest, const struct sql_sink *sink,
	struct sql_result *out, struct incore_error *e)
{
	sqlite3_stmt *q = NULL;
	struct watch watch;
	bool ok;
	int code;

	*out = (struct sql_result){0};
	incore_error_clear(&s->error);
	if (!watch_begin(&watch, s, e))
		return false;
	code = sqlite3_prepare_v2(s->db, text, -1, &q, rest);
	ok = code == SQLITE_OK || fail_query(s, code, text, e);
	ok = ok && (!q || send_result(s, q, text, sink, out, e));
	sqlite3_finalize(q);
	watch_end(&watch);
	progress_restart(s->progress);
	sql_forget_answers(s);
	s->n_run++;
	return ok;
}

bool sql_has_more(const char *text)
{
	for (; *text; text++) {
		if (strchr(" \t\r\n;", *text))
			continue;
		if (text[0] == '-' && text[1] == '-') {
			text += strcspn(text, "\n");
			if (!*text)
				return false;
			continue;
		}
		if (text[0] != '/' || text[1] != '*')
			return true;
		text = strstr(text + 2, "*/");
		if (!text)
			return false;
		text++;
	}
	return false;
}

bool sql_is_complete(const char *text)
{
	return sqlite3_complete(text);
}

/* --- the session --- */

uint64_t sql_failed(const struct sql *s)
{
	return s->n_failed;
}

const struct sql_table *sql_tables(const struct sql *s, size_t *n)
{
	*n = s->tables.n;
	return s->tables.v;
}

bool sql_declare(struct sql_declaration *d, const char *name, const struct column *c,
	bool is_argument, struct incore_error *e)
{
	bool is_real = c->type == COLUMN_F64;
	bool is_text = c->type >= COLUMN_TEXT || c->words || (c->flags & COLUMN_HEX);
	struct sql_column x = {.name = name,
		.type = is_text	  ? "TEXT"
			: is_real ? "REAL"
				  : "INTEGER",
		.unit = unit_name(c->unit),
		.doc = c->doc,
		.is_argument = is_argument};

	sb_printf(&d->text, "%s\"%s\" %s%s", d->columns.n ? ", " : "CREATE TABLE x(", name, x.type,
		is_argument ? " HIDDEN" : "");
	return (VEC_PUSH(&d->columns, x) && !d->text.failed) || err_nomem(e);
}

bool sql_declared(struct sql_declaration *d, const char *name, const char *doc, const char **text,
	struct incore_error *e)
{
	struct arena *a = &d->sql->arena;
	struct sql_table t = {.name = name, .doc = doc};

	sb_puts(&d->text, ")");
	*text = d->text.failed ? NULL : arena_strndup(a, d->text.p, d->text.n);
	t.columns.n = d->columns.n;
	t.columns.v = arena_memdup(a, d->columns.v, d->columns.n * sizeof(*d->columns.v));
	sb_free(&d->text);
	VEC_FREE(&d->columns);
	return (*text && t.columns.v && VEC_PUSH(&d->sql->tables, t)) || err_nomem(e);
}

int sql_connect(struct sql *s, const char *declaration, void *vtab, sqlite3_vtab **out)
{
	int code;

	if (!vtab)
		return SQLITE_NOMEM;
	s->is_declaring = true; /* SQLite handles it as CREATE TABLE, which queries must not use */
	sqlite3_vtab_config(s->db, SQLITE_VTAB_INNOCUOUS);
	code = sqlite3_declare_vtab(s->db, declaration);
	s->is_declaring = false;
	if (code != SQLITE_OK)
		sqlite3_free(vtab);
	else
		*out = vtab;
	return code;
}

/* Adds views: the most frequent queries over two tables. */
static bool add_views(struct sql *s, struct incore_error *e)
{
	static const char waits[] =
		"CREATE TEMP VIEW waits AS SELECT p.capture, p.row, w.isa, w.line, p.producer_row, "
		"f.isa AS producer_isa, f.line AS producer_line, f.class AS producer_class, "
		"p.waits, p.blocked, p.cycles, p.latency_median, p.latency_p95, p.latency_max "
		"FROM producers p JOIN code w ON w.capture = p.capture AND w.row = p.row "
		"JOIN code f ON f.capture = p.capture AND f.row = p.producer_row";
	static const struct sql_table described = {.name = "waits",
		.doc = "which instruction waited for which, with their texts: producers and code"};

	if (sqlite3_exec(s->db, waits, NULL, NULL, NULL) != SQLITE_OK)
		return fail_open(s, e);
	return VEC_PUSH(&s->tables, described) || err_nomem(e);
}

static bool open_captures(struct sql *s, struct incore_error *e)
{
	s->traces = arena_zalloc(&s->arena, s->n_captures + 1, sizeof(struct trace *));
	s->kept = arena_zalloc(&s->arena, s->n_captures + 1, sizeof(struct table_keep *));
	if (!s->traces || !s->kept)
		return err_nomem(e);
	for (unsigned i = 0; i < s->n_captures; i++)
		if (!answer_open(s->about, s->like, s->paths[i], IMPORT_ALL, &s->traces[i], e))
			return false;
	return true;
}

static bool sql_session_open_database(struct sql *s, struct incore_error *e)
{
	if (s->limits.memory_bytes)
		sqlite3_hard_heap_limit64((sqlite3_int64)s->limits.memory_bytes);
	if (sqlite3_open_v2(":memory:", &s->db,
		    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY,
		    NULL) != SQLITE_OK)
		return fail_open(s, e);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	/* sort in memory only, so that a query writes nothing to disk */
	if (sqlite3_exec(s->db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL) != SQLITE_OK)
		return fail_open(s, e);
	if (!sql_add_tables(s, e) || !sql_add_answers(s, e) || !sql_add_functions(s, e) ||
		!add_views(s, e))
		return false;
	set_limits(s->db);
	sqlite3_set_authorizer(s->db, authorize, s);
	return true;
}

static void show_nothing(void *ctx, const char *what, uint64_t done, uint64_t total, bool is_last)
{
	(void)ctx;
	(void)what;
	(void)done;
	(void)total;
	(void)is_last;
}

struct sql *sql_open(const struct request *like, struct answer *about, const char *const *paths,
	unsigned n_paths, const struct sql_limits *limits, struct incore_error *e)
{
	struct sql *s = mem_zalloc(1, sizeof(*s));

	if (!s)
		return err_nomem_null(e);
	arena_init(&s->arena);
	s->like = like;
	s->about = about;
	s->paths = paths;
	s->n_captures = n_paths;
	s->limits = *limits;
	/* own object: stopping a slow query must not cancel the whole program */
	s->progress = progress_new(show_nothing, NULL);
	if (!s->progress)
		err_nomem(e);
	else if (open_captures(s, e) && sql_session_open_database(s, e))
		return s;
	sql_close(s);
	return NULL;
}

void sql_close(struct sql *s)
{
	if (!s)
		return;
	sql_forget_answers(s);
	sqlite3_close(s->db);
	for (unsigned i = 0; s->kept && i < s->n_captures; i++)
		table_keep_free(s->kept[i]);
	progress_free(s->progress);
	VEC_FREE(&s->tables);
	VEC_FREE(&s->answers);
	incore_error_clear(&s->error);
	arena_deinit(&s->arena);
	mem_free(s);
}
