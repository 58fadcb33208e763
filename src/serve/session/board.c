/* SPDX-License-Identifier: Apache-2.0 */
/* board.c: answers of a store for its page, and the pairs of captures opened from there. */
#include "serve/session/board.h"

#include <pthread.h>
#include <time.h>

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
	pthread_mutex_t lock;
	pthread_cond_t given;		/* signalled when a user releases a pair */
	struct pair pairs[BOARD_PAIRS]; /* protected by the lock */
	uint64_t clock;
};

/* --- one question --- */

#define MOST_SET 3u

/* How the page asks a question. */
static const struct board_question {
	const char *name;
	/* Numbers of captures that a request must give: an option of the question, or else its
	 * arguments. */
	const char *needs[2];
	/* How much of an answer the page shows. */
	struct {
		const char *option, *value;
	} set[MOST_SET];
} shown[] = {
	{"store series", {NULL}, {{"top", "1000"}}},
	{"store regressions", {NULL}, {{"top", "1000"}, {"movers", "0"}}},
	{"store history", {"capture"}, {{"movers", "12"}, {"points", "1500"}, {"changes", "200"}}},
	{"store show", {"capture"}, {{"top", "12"}}},
	{"store files", {"before", "after"}, {{NULL, NULL}}},
};

struct board_request {
	struct request request;
	struct arena arena;
	const char *paths[2];
};

static bool begin_request(struct board_request *x, const struct board *b, const struct question *q,
	struct incore_error *e)
{
	x->request = (struct request){.params = NULL};
	arena_init(&x->arena);
	if (!request_init(&x->request, q, e))
		return false;
	x->request.paths = x->paths;
	return request_set(&x->request, "store", b->o.store, e);
}

static void end_request(struct board_request *x)
{
	request_deinit(&x->request);
	arena_deinit(&x->arena);
}

static bool set_part(
	struct board_request *x, const char *name, struct str value, struct incore_error *e)
{
	const char *text = arena_strndup(&x->arena, value.p, value.n);

	return text ? request_set(&x->request, name, text, e) : err_nomem(e);
}

static bool no_option(const struct query *q, const char *key, struct incore_error *e)
{
	return err_set(
		e, INCORE_USAGE, "bad-query", "%s has no option %s for a viewer", q->name, key);
}

/* An option of the request. Values of one that may be repeated are separated by commas; 0 is a flag
 * that is not set. */
static bool set_pair(struct board_request *x, const struct query *q, const struct query_pair *pair,
	struct incore_error *e)
{
	const struct option_def *d = request_option(x->request.question, pair->key);
	struct str rest = str_of(pair->value), part;

	if (!d || d->names_file || !(d->reach & REACH_HTTP))
		return no_option(q, pair->key, e);
	if (d->type == OPTION_FLAG && strcmp(pair->value, "0") == 0)
		return true;
	if (d->type == OPTION_FLAG && strcmp(pair->value, "1") != 0)
		return err_set(e, INCORE_USAGE, "bad-query", "%s expects 0 or 1", pair->key);
	if (d->type != OPTION_MANY)
		return request_set(&x->request, pair->key, pair->value, e);
	while (str_cut(&rest, ",", &part))
		if (!set_part(x, pair->key, part, e))
			return false;
	return !rest.n || set_part(x, pair->key, rest, e);
}

/* The number of a capture, as an option or the next argument. */
static bool set_needed(
	struct board_request *x, const struct query *q, const char *key, struct incore_error *e)
{
	struct request *r = &x->request;
	const char *text = query_text(q, key);
	uint64_t number;

	if (!query_number(q, key, QUERY_NEEDED, INT64_MAX, &number, e))
		return false;
	if (request_option(r->question, key))
		return request_set(r, key, text, e);
	x->paths[r->n_paths++] = text;
	return true;
}

static bool set_request(struct board_request *x, const struct query *q,
	const struct board_question *as, struct incore_error *e)
{
	for (unsigned i = 0; i < 2 && as->needs[i]; i++)
		if (!set_needed(x, q, as->needs[i], e))
			return false;
	for (unsigned i = 0; i < q->n; i++) {
		const char *key = q->pair[i].key;
		bool is_needed = false;

		for (unsigned k = 0; k < 2 && as->needs[k]; k++)
			is_needed |= strcmp(as->needs[k], key) == 0;
		for (unsigned k = 0; k < MOST_SET && as->set[k].option; k++)
			if (strcmp(as->set[k].option, key) == 0)
				return no_option(q, key, e);
		if (!is_needed && !set_pair(x, q, &q->pair[i], e))
			return false;
	}
	for (unsigned k = 0; k < MOST_SET && as->set[k].option; k++)
		if (!request_set(&x->request, as->set[k].option, as->set[k].value, e))
			return false;
	return true;
}

static bool put_answer(struct answer *a, struct strbuf *out, struct incore_error *e)
{
	struct json_writer w;

	answer_about(a, &store_part_record, a->input);
	json_w_buf(&w, out, 1);
	answer_json(a, &w);
	return json_w_finish(&w, e);
}

/* Answers "store/history?capture=3" with what `incore store history` is asked. */
static bool answer(struct board *b, struct str target, struct reply *r, struct incore_error *e)
{
	struct board_request x;
	struct answer a = {0};
	struct query q;
	bool ok;

	if (!query_parse(&q, target, e))
		return false;
	EACH (const struct board_question, as, shown, sizeof(shown) / sizeof(shown[0])) {
		const struct question *question = question_for(as->name, REACH_HTTP);
		const char *slash = strchr(q.name, '/');
		size_t at = slash ? (size_t)(slash - q.name) : 0;

		if (!question || !at || strncmp(as->name, q.name, at) != 0 || as->name[at] != ' ' ||
			strcmp(as->name + at + 1, slash + 1) != 0)
			continue;
		r->media_type = "application/json; charset=utf-8";
		ok = begin_request(&x, b, question, e) && set_request(&x, &q, as, e) &&
		     answer_ask(&x.request, &a, e) && put_answer(&a, &r->body, e);
		answer_deinit(&a);
		end_request(&x);
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

static bool is_there(const struct store_file *f, struct incore_error *e)
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
	struct board *b, struct pair *p, const struct store_file *v, struct incore_error *e)
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
	struct board_request x;
	struct answer a = {0};
	bool ok = begin_request(&x, b, question_find("store files"), e);

	close_pair(p);
	p->before = before;
	p->after = after;
	x.paths[0] = arena_printf(&x.arena, "%llu", (unsigned long long)before);
	x.paths[1] = arena_printf(&x.arena, "%llu", (unsigned long long)after);
	x.request.n_paths = 2;
	ok = ok && ((x.paths[0] && x.paths[1]) || err_nomem(e)) && answer_ask(&x.request, &a, e);
	if (ok) {
		const struct store_files *f = a.data;
		const struct store_file *v = f->files.v;

		ok = is_there(&v[0], e) && is_there(&v[1], e) && start_pair(b, p, v, e);
	}
	answer_deinit(&a);
	end_request(&x);
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

/* Reports an unreadable store now, not only in the browser. */
static bool is_readable(const struct board *b, struct incore_error *e)
{
	struct board_request x;
	struct answer a = {0};
	bool ok =
		begin_request(&x, b, question_find("store ls"), e) && answer_ask(&x.request, &a, e);

	answer_deinit(&a);
	end_request(&x);
	return ok;
}

struct board *board_new(const struct board_options *o, struct incore_error *e)
{
	struct board *b = mem_zalloc(1, sizeof(*b));

	if (!b)
		return err_nomem_null(e);
	b->o = *o;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->given, NULL);
	if (is_readable(b, e))
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
	mem_free(b);
}
