/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answers.c: the answers of the verbs as virtual tables: `hot` is the answer of `incore hot`, one
 * row per instruction. A verb's options are arguments, hot('line'), or hidden columns to compare.
 * Each list of a verb with several lists is a table: waves_clusters, hot_edges, ...; single values
 * are in one row. A table has the columns of all forms of the answer; missing ones are NULL.
 * Each question is asked once per query and its answer kept until the query ends.
 */
#include "sql/internal.h"

#define MAX_ANSWERS 64u	  /* of one query */
#define MAX_ARGUMENTS 28u /* a letter each */

/* Does a list of the answer, or "" for its single values, bear the name of the question? */
static bool is_main(const struct question *q, const char *list)
{
	struct str rest = str_of(q->main_lists ? q->main_lists : ""), word;

	while (str_cut(&rest, "|", &word))
		if (str_is(word, list))
			return true;
	return !q->main_lists && !*list;
}

struct kept_answer {
	const struct question *question;
	char *key;
	struct answer answer;
	struct arena arena; /* owns the tables */
	struct flat_tables tables;
};

struct answer_module { /* one per table, lives as long as the session */
	struct sql *sql;
	const struct question *question;
	const char *name, *doc;
	bool is_main;
	const char *list; /* if not is_main: its path in the answer */
	VEC(const char *) columns;
	VEC(const struct option_def *) arguments;
	const char *declaration;
};

struct answer_vtab {
	sqlite3_vtab base;
	const struct answer_module *module;
};

struct answer_reader {
	sqlite3_vtab_cursor base;
	const struct answer_module *module;
	const char *arguments[MAX_ARGUMENTS]; /* of the scan; NULL: not given */
	unsigned capture, last_capture;	      /* from 0 */
	const struct kept_answer *answer;
	const struct flat_table *table;	    /* NULL: that answer has no such list */
	const struct flat_column **columns; /* of this table, by column of the module */
	size_t row;
	int64_t rowid;
	bool is_end;
};

/* --- asking --- */

static void free_answer(struct kept_answer *k)
{
	flat_deinit(&k->tables);
	arena_deinit(&k->arena);
	answer_deinit(&k->answer);
	mem_free(k->key);
	mem_free(k);
}

static uint64_t answer_bytes(const struct kept_answer *k)
{
	return k->answer.arena.total_bytes + k->arena.total_bytes;
}

void sql_forget_answers(struct sql *s)
{
	for (size_t i = 0; i < s->answers.n; i++)
		free_answer(s->answers.v[i]);
	s->answers.n = 0;
}

/* Adds the warnings of an answer to those of the session, each only once. */
static void sql_answers_take_warnings(struct sql *s, const struct answer *a)
{
	for (size_t i = 0; i < a->warnings.n; i++) {
		bool is_told = false;

		for (size_t k = 0; k < s->about->warnings.n; k++)
			is_told |= strcmp(s->about->warnings.v[k], a->warnings.v[i]) == 0;
		if (!is_told)
			answer_warn(s->about, "%s", a->warnings.v[i]);
	}
}

static bool set_options(struct request *r, const struct answer_reader *k, struct incore_error *e)
{
	const struct answer_module *m = k->module;

	if ((m->question->groups & OPTIONS_TOP) && !request_set(r, "top", "all", e))
		return false;
	for (size_t i = 0; i < m->arguments.n; i++)
		if (k->arguments[i] && !request_set(r, m->arguments.v[i]->name, k->arguments[i], e))
			return false;
	return true;
}

static bool sql_answers_ask(
	struct answer_reader *k, struct kept_answer *out, struct incore_error *e)
{
	struct sql *s = k->module->sql;
	const struct question *q = k->module->question;
	struct request r;
	bool ok;

	if (!request_init(&r, q, e))
		return false;
	r.paths = q->min_paths > 1 ? s->paths : &s->paths[k->capture];
	r.n_paths = q->min_paths > 1 ? s->n_captures : 1;
	r.captures = s->like->captures;
	r.pool = s->like->pool;
	r.progress = s->progress;
	ok = request_read_as(&r, s->like, e) && set_options(&r, k, e) &&
	     answer_ask(&r, &out->answer, e);
	if (ok)
		sql_answers_take_warnings(s, &out->answer);
	ok = ok && flat_make(&out->tables, out->answer.record, out->answer.data, &out->arena, e);
	request_deinit(&r);
	return ok;
}

static bool sql_answers_fits(
	const struct sql *s, const struct kept_answer *new_one, struct incore_error *e)
{
	uint64_t bytes = answer_bytes(new_one);

	for (size_t i = 0; i < s->answers.n; i++)
		bytes += answer_bytes(s->answers.v[i]);
	if (!s->limits.memory_bytes || bytes <= s->limits.memory_bytes)
		return true;
	return err_set(e, INCORE_FAILED, "sql-memory",
		"the answers that the query asks for need more than %llu MiB of memory (--memory)",
		(unsigned long long)(s->limits.memory_bytes >> 20));
}

/* Key of an answer: question, capture and arguments as one text. */
static char *sql_answers_key_of(const struct answer_reader *k, struct incore_error *e)
{
	struct strbuf b = {0};

	sb_printf(&b, "%s %u", k->module->question->name, k->capture);
	for (size_t i = 0; i < k->module->arguments.n; i++)
		if (k->arguments[i])
			sb_printf(&b, "\n%zu %s", i, k->arguments[i]);
	if (!b.failed)
		return b.p;
	sb_free(&b);
	return err_nomem_null(e);
}

static bool find_answer(struct answer_reader *k, struct incore_error *e)
{
	struct sql *s = k->module->sql;
	char *key = sql_answers_key_of(k, e);
	struct kept_answer *x;

	if (!key)
		return false;
	for (size_t i = 0; i < s->answers.n; i++)
		if (strcmp(s->answers.v[i]->key, key) == 0) {
			k->answer = s->answers.v[i];
			mem_free(key);
			return true;
		}
	if (s->answers.n == MAX_ANSWERS) {
		mem_free(key);
		return err_set(e, INCORE_FAILED, "sql-limit",
			"the query asks more than %u questions of the verbs", MAX_ANSWERS);
	}
	x = mem_zalloc(1, sizeof(*x));
	if (!x) {
		mem_free(key);
		return err_nomem(e);
	}
	x->key = key;
	arena_init(&x->arena);
	if (!sql_answers_ask(k, x, e) || !sql_answers_fits(s, x, e) || !VEC_PUSH(&s->answers, x)) {
		free_answer(x);
		return e->status == INCORE_OK ? err_nomem(e) : false;
	}
	k->answer = x;
	return true;
}

/* Finds the module's table in the answer, and its columns. */
static void place_columns(struct answer_reader *k)
{
	const struct answer_module *m = k->module;
	const struct flat_tables *t = &k->answer->tables;

	k->table = NULL;
	for (size_t i = 0; i < t->v.n && !k->table; i++)
		if (m->is_main ? is_main(m->question, t->v.v[i]->name)
			       : strcmp(t->v.v[i]->name, m->list) == 0)
			k->table = t->v.v[i];
	for (size_t i = 0; i < m->columns.n; i++) {
		k->columns[i] = NULL;
		for (size_t c = 0; k->table && c < k->table->columns.n && !k->columns[i]; c++)
			if (strcmp(k->table->columns.v[c].name, m->columns.v[i]) == 0)
				k->columns[i] = &k->table->columns.v[c];
	}
}

/* Reads the answer about the current capture, or about the next one for which it has rows. */
static int sql_answers_read_answer(struct answer_reader *k)
{
	struct incore_error e = {0};

	for (;; k->capture++) {
		if (!find_answer(k, &e))
			return sql_table_failed(k->module->sql, &e);
		place_columns(k);
		k->row = 0;
		if (k->table && k->table->n_rows)
			return SQLITE_OK;
		if (k->capture >= k->last_capture) {
			k->is_end = true;
			return SQLITE_OK;
		}
	}
}

/* --- the module --- */

static int connect_answer(sqlite3 *db, void *aux, int argc, const char *const *argv,
	sqlite3_vtab **out, char **message)
{
	const struct answer_module *m = aux;
	struct answer_vtab *v = sqlite3_malloc(sizeof(*v));

	(void)db;
	(void)argc;
	(void)argv;
	(void)message;
	if (v)
		*v = (struct answer_vtab){.module = m};
	return sql_connect(m->sql, m->declaration, v, out);
}

static int disconnect_answer(sqlite3_vtab *v)
{
	sqlite3_free(v);
	return SQLITE_OK;
}

/* Column 0 is the capture, followed by the columns of the answer and the arguments. The plan has
 * 'A' for the capture and one letter per argument, from 'a' on. */
static int plan_answer(sqlite3_vtab *base, sqlite3_index_info *x)
{
	const struct answer_module *m = ((struct answer_vtab *)base)->module;
	int first = 1 + (int)m->columns.n, n = 0;
	char *text = sqlite3_malloc(x->nConstraint + 1);

	if (!text)
		return SQLITE_NOMEM;
	x->idxStr = text;
	x->needToFreeIdxStr = 1;
	x->estimatedCost = 1e5;
	x->estimatedRows = 200;
	for (int i = 0; i < x->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &x->aConstraint[i];

		if (c->op != SQLITE_INDEX_CONSTRAINT_EQ || (c->iColumn > 0 && c->iColumn < first) ||
			c->iColumn < 0)
			continue;
		if (!c->usable && c->iColumn >= first)
			return SQLITE_CONSTRAINT; /* the value of an argument must be known first */
		if (!c->usable)
			continue;
		text[n++] = (char)(c->iColumn ? 'a' + c->iColumn - first : 'A');
		x->aConstraintUsage[i].argvIndex = n;
		x->aConstraintUsage[i].omit = c->iColumn >= first;
	}
	text[n] = 0;
	return SQLITE_OK;
}

static int open_answer(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	const struct answer_module *m = ((struct answer_vtab *)base)->module;
	size_t bytes = (m->columns.n + 1) * sizeof(struct flat_column *);
	struct answer_reader *k = sqlite3_malloc(sizeof(*k));

	if (!k)
		return SQLITE_NOMEM;
	*k = (struct answer_reader){.module = m, .columns = sqlite3_malloc64(bytes)};
	if (!k->columns) {
		sqlite3_free(k);
		return SQLITE_NOMEM;
	}
	*out = &k->base;
	return SQLITE_OK;
}

static void free_arguments(struct answer_reader *k)
{
	for (unsigned i = 0; i < MAX_ARGUMENTS; i++) {
		sqlite3_free((void *)k->arguments[i]);
		k->arguments[i] = NULL;
	}
}

static int close_answer(sqlite3_vtab_cursor *base)
{
	struct answer_reader *k = (struct answer_reader *)base;

	free_arguments(k);
	sqlite3_free(k->columns);
	sqlite3_free(k);
	return SQLITE_OK;
}

static int filter_answer(
	sqlite3_vtab_cursor *base, int unused, const char *plan, int argc, sqlite3_value **argv)
{
	struct answer_reader *k = (struct answer_reader *)base;
	struct sql *s = k->module->sql;
	int64_t first = 1, last = s->n_captures;

	(void)unused;
	free_arguments(k);
	k->rowid = 0;
	if (k->module->question->min_paths > 1)
		last = 1; /* one answer about all captures */
	for (int i = 0; i < argc; i++) {
		if (plan[i] == 'A') {
			if (!sql_narrow(SQLITE_INDEX_CONSTRAINT_EQ, argv[i], &first, &last))
				first = last + 1;
			continue;
		}
		if (sqlite3_value_type(argv[i]) == SQLITE_NULL)
			continue; /* not given */
		k->arguments[plan[i] - 'a'] =
			sqlite3_mprintf("%s", (const char *)sqlite3_value_text(argv[i]));
		if (!k->arguments[plan[i] - 'a'])
			return SQLITE_NOMEM;
	}
	k->is_end = first > last;
	k->capture = (unsigned)first - 1;
	k->last_capture = (unsigned)last - 1;
	return k->is_end ? SQLITE_OK : sql_answers_read_answer(k);
}

static int next_answer_row(sqlite3_vtab_cursor *base)
{
	struct answer_reader *k = (struct answer_reader *)base;

	k->rowid++;
	if (++k->row < k->table->n_rows)
		return SQLITE_OK;
	if (k->capture >= k->last_capture) {
		k->is_end = true;
		return SQLITE_OK;
	}
	k->capture++;
	return sql_answers_read_answer(k);
}

static int is_answer_end(sqlite3_vtab_cursor *base)
{
	return ((struct answer_reader *)base)->is_end;
}

static int give_answer_column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int i)
{
	const struct answer_reader *k = (const struct answer_reader *)base;
	const struct answer_module *m = k->module;
	size_t argument = (size_t)i - 1 - m->columns.n;

	if (i == 0) {
		if (m->question->min_paths <= 1)
			sqlite3_result_int64(ctx, (int64_t)k->capture + 1);
	} else if ((size_t)i <= m->columns.n) {
		const struct flat_column *c = k->columns[i - 1];

		if (c)
			sql_result_value(
				ctx, c->column, flat_value(k->table, k->row, c), SQLITE_STATIC);
	} else if (k->arguments[argument]) {
		sqlite3_result_text(ctx, k->arguments[argument], -1, SQLITE_TRANSIENT);
	}
	return SQLITE_OK;
}

static int give_answer_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	*out = ((struct answer_reader *)base)->rowid;
	return SQLITE_OK;
}

static const sqlite3_module answer_methods = {
	.iVersion = 0,
	.xConnect = connect_answer,
	.xBestIndex = plan_answer,
	.xDisconnect = disconnect_answer,
	.xOpen = open_answer,
	.xClose = close_answer,
	.xFilter = filter_answer,
	.xNext = next_answer_row,
	.xEof = is_answer_end,
	.xColumn = give_answer_column,
	.xRowid = give_answer_rowid,
};

/* --- the list of tables --- */

static bool has_name(const struct sql_declaration *d, const char *name)
{
	for (size_t i = 0; i < d->columns.n; i++)
		if (sqlite3_stricmp(d->columns.v[i].name, name) == 0)
			return true;
	return false;
}

static bool sql_answers_add_options(struct answer_module *m, struct sql_declaration *d,
	const struct option_def *table, struct incore_error *e)
{
	for (const struct option_def *o = table; o && o->name; o++) {
		if (!(o->reach & REACH_SQL))
			continue;
		struct column c = {.doc = o->help, .type = COLUMN_TEXT};
		char *name = arena_strdup(&m->sql->arena, o->name);

		for (char *p = name; p && *p; p++)
			if (*p == '-')
				*p = '_';
		if (name && has_name(d, name))
			name = arena_printf(&m->sql->arena, "%s_arg", name);
		if (!name || m->arguments.n == MAX_ARGUMENTS || !VEC_PUSH(&m->arguments, o))
			return err_nomem(e);
		if (!sql_declare(d, name, &c, true, e))
			return false;
	}
	return true;
}

/* Adds the columns of every form of the answer. */
static bool sql_answers_add_columns(struct answer_module *m, struct sql_declaration *d,
	const struct flat_tables *forms, size_t n_forms, struct incore_error *e)
{
	for (size_t f = 0; f < n_forms; f++)
		for (size_t i = 0; i < forms[f].v.n; i++) {
			const struct flat_table *t = forms[f].v.v[i];

			if (m->is_main ? !is_main(m->question, t->name)
				       : strcmp(t->name, m->list) != 0)
				continue;
			EACH (const struct flat_column, c, t->columns.v, t->columns.n) {
				if (has_name(d, c->name))
					continue;
				if (!sql_declare(d, c->name, c->column, false, e))
					return false;
				if (!VEC_PUSH(&m->columns, c->name))
					return err_nomem(e);
			}
		}
	return true;
}

static void free_module(void *p)
{
	struct answer_module *m = p;

	VEC_FREE(&m->columns);
	VEC_FREE(&m->arguments);
}

static bool add_module(struct sql *s, const struct answer_module *like,
	const struct flat_tables *forms, size_t n_forms, struct incore_error *e)
{
	static const struct column capture = {
		.doc = "which capture", .type = COLUMN_U32, .unit = UNIT_INDEX};
	struct answer_module *m = arena_memdup(&s->arena, like, sizeof(*like));
	const struct question *q = like->question;
	struct sql_declaration d = {.sql = s};
	bool ok;

	if (!m)
		return err_nomem(e);
	ok = sql_declare(&d, TABLE_CAPTURE, &capture, false, e) &&
	     sql_answers_add_columns(m, &d, forms, n_forms, e) &&
	     sql_answers_add_options(m, &d, q->options, e) &&
	     (!(q->groups & OPTIONS_SELECT) ||
		     sql_answers_add_options(m, &d, request_select_options, e)) &&
	     (!(q->groups & OPTIONS_TOP) || sql_answers_add_options(m, &d, request_top_options, e));
	ok = sql_declared(&d, m->name, m->doc, &m->declaration, e) && ok;
	if (!ok) {
		free_module(m);
		return false;
	}
	/* frees the module, also on failure */
	return sqlite3_create_module_v2(s->db, m->name, &answer_methods, m, free_module) ==
		       SQLITE_OK ||
	       err_nomem(e);
}

static bool has_table(const struct sql *s, const char *name)
{
	for (size_t i = 0; i < s->tables.n; i++)
		if (strcmp(s->tables.v[i].name, name) == 0)
			return true;
	return false;
}

/* E.g. "waves_imbalance_se" for the list imbalance.se; "hot_answer" for single values. */
static const char *sql_answers_table_name(struct sql *s, const char *question, const char *list)
{
	char *name = arena_printf(&s->arena, "%s_%s", question, *list ? list : "answer");

	for (char *p = name; p && *p; p++)
		if (*p == '.' || *p == ' ')
			*p = '_';
	return name;
}

static bool sql_answers_is_word(const char *name)
{
	return sqlite3_keyword_check(name, (int)strlen(name));
}

static bool sql_answers_add_lists(struct sql *s, const struct question *q,
	const struct flat_tables *forms, size_t n_forms, struct incore_error *e)
{
	for (size_t f = 0; f < n_forms; f++)
		for (size_t i = 0; i < forms[f].v.n; i++) {
			const struct flat_table *t = forms[f].v.v[i];
			struct answer_module m = {.sql = s, .question = q, .list = t->name};

			m.is_main = is_main(q, t->name);
			m.doc = m.is_main ? q->summary : t->doc;
			/* CHECK is an SQL keyword: the table of its values is named check_answer */
			m.name = m.is_main && !sql_answers_is_word(q->name)
					 ? q->name
					 : sql_answers_table_name(s, q->name, t->name);
			if (!m.name)
				return err_nomem(e);
			if (!has_table(s, m.name) && !add_module(s, &m, forms, n_forms, e))
				return false;
		}
	return true;
}

static bool add_question(struct sql *s, const struct question *q, struct incore_error *e)
{
	struct flat_tables forms[8] = {0};
	size_t n = 0;
	bool ok = true;

	for (; ok && q->records[n] && n < 8; n++)
		ok = flat_shape(&forms[n], q->records[n], &s->arena, e);
	ok = ok && sql_answers_add_lists(s, q, forms, n, e);
	for (size_t i = 0; i < n; i++)
		flat_deinit(&forms[i]);
	return ok;
}

bool sql_add_answers(struct sql *s, struct incore_error *e)
{
	for (const struct question *const *q = question_table; *q; q++)
		if (((*q)->reach & REACH_SQL) && (*q)->min_paths <= s->n_captures &&
			!add_question(s, *q, e))
			return false;
	return true;
}
