/* SPDX-License-Identifier: Apache-2.0 */
/* board.c: answers of a store for its page, and the pairs of captures opened from there. */
#include "serve/session/board.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

#include "answer/rows.h"
#include "base/file.h"
#include "base/mem.h"
#include "store/answers.h"

#define PAIR_API "/api/1/pair/"
#define API "/api/1/"
#define WAIT_S 5

struct pair {
	uint64_t before, after, used;
	struct session *session;
	struct pool *pool; /* used only by the reading of its session */
	unsigned users;
};

struct board {
	struct board_options o;
	char *shown; /* location of the store, as it may be shown */
	pthread_mutex_t lock;
	pthread_cond_t given;		/* signalled when a user releases a pair */
	struct pair pairs[BOARD_PAIRS]; /* protected by the lock */
	uint64_t clock;
};

/* --- one question --- */

struct asked_store {
	struct store_ask ask;
	struct arena arena;
	struct store_select select;
	struct store_entries entries;
};

static bool split_labels(struct asked_store *x, const char *text)
{
	char *copy = text && *text ? arena_strdup(&x->arena, text) : NULL, *rest = copy;

	if (!copy)
		return !text || !*text;
	for (char *part; (part = strsep(&rest, ",")) != NULL;)
		if (!VEC_PUSH(&x->select.labels, part))
			return false;
	return true;
}

static bool begin(
	struct asked_store *x, const struct board *b, const struct query *q, struct incore_error *e)
{
	unsigned figure;

	*x = (struct asked_store){
		.select = {.kernel = query_text(q, "kernel"), .arch = query_text(q, "arch")}};
	arena_init(&x->arena);
	x->ask = (struct store_ask){.arena = &x->arena,
		.history = {STORE_SIGMAS, STORE_FLOOR},
		.movers = 0,
		.most_pct = NAN};
	if (!query_word(q, "figure", "auto|" STORE_FIGURE_CHOICES, &figure, e))
		return false;
	x->ask.figure = figure ? figure - 1 : STORE_FIGURES;
	if (!split_labels(x, query_text(q, "label")))
		return err_nomem(e);
	x->ask.store = store_open(b->o.store, false, e);
	return x->ask.store && store_list(x->ask.store, &x->select, &x->arena, &x->entries, e);
}

static void end(struct asked_store *x)
{
	store_close(x->ask.store);
	VEC_FREE(&x->entries.v);
	VEC_FREE(&x->select.labels);
	arena_deinit(&x->arena);
}

/* The part of a list that an answer contains, and the list's length. */
struct board_input {
	const char *store;
	uint64_t from, total;
};
static const struct column input_columns[] = {
	COLUMN(board_input, store, UNIT_NONE, "the store that was read"),
	COLUMN(board_input, from, UNIT_INDEX,
		"index of the first row of the list that is included"),
	COLUMN(board_input, total, UNIT_COUNT, "total rows of the list"),
};
static const struct record input_record = RECORD_OF(board_input, RECORD_BLOCK, input_columns);
const struct record *const board_inputs[] = {&input_record, NULL};

static bool put(const struct board_input *in, const struct record *r, const void *value,
	struct strbuf *out, struct incore_error *e)
{
	struct json_writer w;

	json_w_buf(&w, out, 1);
	envelope_begin("store", &w);
	record_json(&input_record, in, &w);
	json_w_key(&w, "data");
	record_json(r, value, &w);
	json_w_kv_array(&w, "warnings");
	json_w_end(&w);
	json_w_end(&w);
	return json_w_finish(&w, e);
}

/* Cuts a list to the part that starts at `from` of the query. */
static bool cut(const struct query *q, struct rows *rows, size_t size, struct board_input *in,
	struct incore_error *e)
{
	if (!query_number(q, "from", 0, rows->n, &in->from, e))
		return false;
	in->total = rows->n;
	rows->v = (const char *)rows->v + in->from * size;
	rows->n -= in->from;
	rows->n = rows->n < BOARD_ROWS ? rows->n : BOARD_ROWS;
	return true;
}

static bool put_series(struct asked_store *x, const struct query *q, struct board_input *in,
	struct strbuf *out, struct incore_error *e)
{
	struct store_overview v;

	return store_overview(&x->ask, &x->entries, &v, e) &&
	       cut(q, &v.series, sizeof(struct store_line), in, e) &&
	       put(in, &store_overview_record, &v, out, e);
}

static bool put_regressions(struct asked_store *x, const struct query *q, struct board_input *in,
	struct strbuf *out, struct incore_error *e)
{
	struct store_worse v = {{0}};
	uint64_t is_all;

	return query_number(q, "all", 0, 1, &is_all, e) &&
	       store_worse(&x->ask, &x->entries, is_all, &v, e) &&
	       cut(q, &v.regressions, sizeof(struct store_regression), in, e) &&
	       put(in, &store_worse_record, &v, out, e);
}

/* Keeps the last changes, as many as a page shows, and explains them. */
static bool last_changes(const struct store_ask *x, struct rows *changes, struct incore_error *e)
{
	struct store_change *v = (struct store_change *)changes->v;

	if (changes->n > BOARD_CHANGES)
		*changes = (struct rows){v += changes->n - BOARD_CHANGES, BOARD_CHANGES};
	for (size_t i = 0; i < changes->n; i++)
		if (!store_explain(x, &v[i], e))
			return false;
	return true;
}

static bool put_history(struct asked_store *x, const struct query *q, struct board_input *in,
	struct strbuf *out, struct incore_error *e)
{
	struct store_history h;
	uint64_t capture;
	size_t at, n;

	x->ask.movers = BOARD_MOVERS;
	if (!query_number(q, "capture", QUERY_NEEDED, INT64_MAX, &capture, e) ||
		!store_series_of(&x->entries, capture, &at, &n, e) ||
		!store_history(&x->ask, &x->entries, at, &h, e) ||
		!last_changes(&x->ask, &h.changes, e))
		return false;
	in->total = h.points.n;
	if (!store_thin(h.points, BOARD_POINTS, &x->arena, &h.points))
		return err_nomem(e);
	return put(in, &store_histories_record, &(struct store_histories){{&h, 1}}, out, e);
}

static bool put_shown(struct asked_store *x, const struct query *q, struct board_input *in,
	struct strbuf *out, struct incore_error *e)
{
	struct store_card v = {.rows = {0}};
	uint64_t capture;

	return query_number(q, "capture", QUERY_NEEDED, INT64_MAX, &capture, e) &&
	       store_card(&x->ask, &x->entries, capture, BOARD_MOVERS, &v, e) &&
	       put(in, &store_card_record, &v, out, e);
}

/* --- the files behind two captures --- */

struct file_row {
	uint64_t capture;
	const char *path;
	bool is_there;
};
static const struct column file_columns[] = {
	COLUMN(file_row, capture, UNIT_INDEX, "number of the capture in the store"),
	COLUMN(file_row, path, UNIT_NONE, "absolute path that the capture was read from"),
	COLUMN(file_row, is_there, UNIT_NONE, "there is still a file or folder at the path"),
};
static const struct record file_record = RECORD_OF(file_row, RECORD_LINE, file_columns);
struct files {
	struct rows files;
};
static const struct column files_columns[] = {
	LIST(files, files, &file_record, "files of the earlier and of the later capture"),
};
static const struct record files_record = RECORD_OF(files, RECORD_BLOCK, files_columns);
const struct record *const board_records[] = {&store_overview_record, &files_record, NULL};

static bool find_file(
	const struct asked_store *x, uint64_t capture, struct file_row *out, struct incore_error *e)
{
	size_t at, n;

	if (!store_series_of(&x->entries, capture, &at, &n, e))
		return false;
	for (const struct store_entry *v = &x->entries.v.v[at];; v++)
		if (v->capture == capture) {
			*out = (struct file_row){capture, v->path, file_exists(v->path)};
			return true;
		}
}

static bool put_files(struct asked_store *x, const struct query *q, struct board_input *in,
	struct strbuf *out, struct incore_error *e)
{
	struct file_row v[2];
	uint64_t before, after;

	return query_number(q, "before", QUERY_NEEDED, INT64_MAX, &before, e) &&
	       query_number(q, "after", QUERY_NEEDED, INT64_MAX, &after, e) &&
	       find_file(x, before, &v[0], e) && find_file(x, after, &v[1], e) &&
	       put(in, &files_record, &(struct files){{v, 2}}, out, e);
}

static const struct {
	const char *name;
	bool (*answer)(struct asked_store *x, const struct query *q, struct board_input *in,
		struct strbuf *out, struct incore_error *e);
} answers[] = {
	{"store/series", put_series},
	{"store/regressions", put_regressions},
	{"store/history", put_history},
	{"store/show", put_shown},
	{"store/files", put_files},
};

static bool answer(struct board *b, struct str target, struct reply *r, struct incore_error *e)
{
	struct board_input in = {.store = b->shown};
	struct asked_store x;
	struct query q;
	bool ok;

	if (!query_parse(&q, target, e))
		return false;
	for (unsigned i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (strcmp(q.name, answers[i].name) != 0)
			continue;
		r->media_type = "application/json; charset=utf-8";
		ok = begin(&x, b, &q, e) && answers[i].answer(&x, &q, &in, &r->body, e);
		end(&x);
		return ok;
	}
	return err_set(e, INCORE_NO, "no-such-answer", "there is no such question");
}

void board_answer(struct board *b, struct str target, struct reply *r)
{
	struct incore_error e = {0};

	*r = (struct reply){.status = 200};
	if (!answer(b, target, r, &e))
		reply_error(r, &e);
	err_move(&r->error, &e);
}

/* --- pairs --- */

bool board_is_pair(struct str target)
{
	return str_starts(target, PAIR_API);
}

/* Parses "/api/1/pair/3-7/tile?x" into 3 and 7, and changes *target to "/api/1/tile?x". */
static bool take_numbers(char **target, uint64_t *before, uint64_t *after)
{
	struct str rest = str_of(*target), first, second;

	rest = str_sub(rest, sizeof(PAIR_API) - 1, rest.n);
	if (!str_cut(&rest, "-", &first) || !str_cut(&rest, "/", &second) || !rest.p ||
		!str_to_u64(first, before) || !str_to_u64(second, after))
		return false;
	*target += (size_t)(rest.p - *target) - (sizeof(API) - 1);
	memcpy(*target, API, sizeof(API) - 1);
	return true;
}

/* Finds the pair of these captures, or else the unused one whose last use is longest ago; NULL: all
 * are in use. */
static struct pair *find_pair(struct board *b, uint64_t before, uint64_t after)
{
	struct pair *best = NULL;

	EACH (struct pair, p, b->pairs, BOARD_PAIRS) {
		if (p->session && p->before == before && p->after == after)
			return p;
		if (!p->users && (!best || p->used < best->used))
			best = p;
	}
	return best;
}

static bool is_there(const struct file_row *f, struct incore_error *e)
{
	return f->is_there || err_set(e, INCORE_NO, "no-file",
				      "%s, where capture %llu was read from, is not there any more",
				      f->path, (unsigned long long)f->capture);
}

static void close_pair(struct pair *p)
{
	session_free(p->session);
	pool_free(p->pool);
	*p = (struct pair){0};
}

/* Starts the session of a pair. The earlier capture comes first: it is A, and B the one compared
 * with it, as in `incore diff`. */
static bool start_pair(
	struct board *b, struct pair *p, const struct file_row v[2], struct incore_error *e)
{
	const char *paths[] = {v[0].path, v[1].path};
	struct session_options o = b->o.reading;
	struct request reading = *o.reading;

	p->pool = pool_new(pool_size(reading.pool), e);
	reading.pool = p->pool;
	o.reading = &reading;
	o.n = 2;
	o.paths = paths;
	p->session = p->pool ? session_new(&o, e) : NULL;
	return p->session && session_find(p->session, e) && session_start(p->session, e);
}

static bool open_pair(
	struct board *b, struct pair *p, uint64_t before, uint64_t after, struct incore_error *e)
{
	struct query none = {.n = 0};
	struct file_row v[2];
	struct asked_store x;
	bool ok = begin(&x, b, &none, e) && find_file(&x, before, &v[0], e) &&
		  find_file(&x, after, &v[1], e) && is_there(&v[0], e) && is_there(&v[1], e);

	close_pair(p);
	p->before = before;
	p->after = after;
	ok = ok && start_pair(b, p, v, e);
	end(&x);
	if (!ok)
		close_pair(p);
	return ok;
}

/* Waits for a pair: users release theirs shortly after they have their answer. */
static struct pair *wait_for_pair(struct board *b, uint64_t before, uint64_t after)
{
	struct timespec until;
	struct pair *p;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	while (!(p = find_pair(b, before, after)))
		if (pthread_cond_timedwait(&b->given, &b->lock, &until) != 0)
			break;
	return p;
}

static struct session *take(struct board *b, char **target, struct incore_error *e)
{
	uint64_t before, after;
	struct pair *p;

	if (!take_numbers(target, &before, &after)) {
		err_set(e, INCORE_NO, "no-such-answer", "there is no such pair of captures");
		return NULL;
	}
	p = wait_for_pair(b, before, after);
	if (!p) {
		err_set(e, INCORE_PARTIAL, "busy", "%u comparisons are in use: ask again later",
			BOARD_PAIRS);
		return NULL;
	}
	if ((!p->session || p->before != before || p->after != after) &&
		!open_pair(b, p, before, after, e))
		return NULL;
	p->used = ++b->clock;
	p->users++;
	return p->session;
}

struct session *board_take(struct board *b, char **target, struct reply *r)
{
	struct incore_error e = {0};
	struct session *s;

	*r = (struct reply){.status = 200};
	pthread_mutex_lock(&b->lock);
	s = take(b, target, &e);
	pthread_mutex_unlock(&b->lock);
	if (!s)
		reply_error(r, &e);
	incore_error_clear(&e);
	return s;
}

void board_give(struct board *b, struct session *s)
{
	pthread_mutex_lock(&b->lock);
	EACH (struct pair, p, b->pairs, BOARD_PAIRS)
		if (p->session == s)
			p->users--;
	pthread_cond_broadcast(&b->given);
	pthread_mutex_unlock(&b->lock);
}

/* --- creating and freeing --- */

struct board *board_new(const struct board_options *o, struct incore_error *e)
{
	struct board *b = mem_zalloc(1, sizeof(*b));
	struct query none = {.n = 0};
	struct asked_store x;
	bool ok;

	if (!b)
		return err_nomem_null(e);
	b->o = *o;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->given, NULL);
	b->shown = store_shown_path(o->store);
	if (!b->shown) {
		board_free(b);
		return err_nomem_null(e);
	}
	ok = begin(&x, b, &none, e); /* report an unreadable store now, not only in the browser */
	end(&x);
	if (ok)
		return b;
	board_free(b);
	return NULL;
}

void board_stop(struct board *b)
{
	pthread_mutex_lock(&b->lock);
	EACH (struct pair, p, b->pairs, BOARD_PAIRS)
		if (p->session)
			session_stop(p->session);
	pthread_mutex_unlock(&b->lock);
}

void board_free(struct board *b)
{
	if (!b)
		return;
	EACH (struct pair, p, b->pairs, BOARD_PAIRS)
		close_pair(p);
	pthread_mutex_destroy(&b->lock);
	pthread_cond_destroy(&b->given);
	mem_free(b->shown);
	mem_free(b);
}
