/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results.c: results.json of rocprofv3 as the same timeline as its database
 * (timeline/rocpd_read.c). The data that a record refers to, and what a call started, may follow
 * it, so the file is read in several passes.
 */
#include "import/rocprof/results.h"

#include <stdio.h>

#include "base/hash.h"

enum walk { WALK_NAMES, WALK_DEVICE, WALK_VALUES, WALK_CALLS, WALKS };
enum text { TEXT_KIND, TEXT_OPERATION, TEXT_MARKER }; /* kinds of keys of texts */

struct counted {
	uint64_t counter;
	double value;
};

struct lists {
	struct results *x;
	enum walk walk;
	uint64_t index;		     /* of the item being read */
	struct u64_map text_at;	     /* -> text of the set */
	VEC(struct counted) counted; /* of the record being read */
};

static struct roctrace *run_of(const struct lists *s)
{
	return s->x->p->timeline;
}

/* --- names --- */

static uint64_t text_key(const struct lists *s, enum text by, uint64_t a, uint64_t b)
{
	uint64_t parts[] = {s->x->process, by, a, b};

	return hash_bytes(parts, sizeof(parts), 0);
}

static struct str text_of(const struct lists *s, enum text by, uint64_t a, uint64_t b)
{
	const uint64_t *at = u64_map_find(&s->text_at, text_key(s, by, a, b));

	return s->x->p->set.texts.strs[at ? *at : 0]; /* text 0 is the empty text */
}

static bool get_text(const struct json_member *m)
{
	struct lists *s = m->ctx;
	uint32_t *to = m->at;
	struct str text;

	if (!json_get_str_or_null(m->r, &text))
		return false;
	*to = intern_add(&s->x->p->set.texts, text);
	return *to != INTERN_NONE || results_no_memory(s->x);
}

static bool get_operations(const struct json_member *m)
{
	struct lists *s = m->ctx;
	uint32_t text = 0;

	json_enter_array_or_null(m->r);
	for (uint64_t i = 0; json_next_item(m->r); i++)
		if (get_text(&(struct json_member){.r = m->r, .at = &text, .ctx = s}))
			results_put(
				s->x, &s->text_at, text_key(s, TEXT_OPERATION, s->index, i), text);
	return !m->r->is_failed;
}

struct named {
	uint64_t id;
	uint32_t text;
};
static const struct json_field kind_fields[] = {
	JSON_FIELD(named, text, "kind", .get = get_text),
	JSON_FIELD(named, id, "operations", .get = get_operations),
};
static const struct json_field message_fields[] = {
	JSON_FIELD(named, id, "key"), JSON_FIELD(named, text, "value", .get = get_text)};
static const struct json_field counter_fields[] = {
	JSON_FIELD(named, id, "id", .get = results_get_id),
	JSON_FIELD(named, text, "name", .get = get_text),
};

static void read_kind(struct lists *s)
{
	struct named k = {0};

	if (json_get_fields(&s->x->r, JSON_FIELDS(kind_fields), &k, s))
		results_put(s->x, &s->text_at, text_key(s, TEXT_KIND, s->index, 0), k.text);
}

static void read_message(struct lists *s)
{
	struct named m = {0};

	if (json_get_fields(&s->x->r, JSON_FIELDS(message_fields), &m, s))
		results_put(s->x, &s->text_at, text_key(s, TEXT_MARKER, m.id, 0), m.text);
}

static void read_counter(struct lists *s)
{
	struct named c = {.id = UINT64_MAX};

	if (json_get_fields(&s->x->r, JSON_FIELDS(counter_fields), &c, s) &&
		!roctrace_add_counter(
			run_of(s), results_known(c.id), s->x->p->set.texts.strs[c.text], STR("")))
		results_no_memory(s->x);
}

/* --- records --- */

/* The number of an agent, by node as in databases. */
static int64_t node_of(const struct lists *s, uint64_t handle)
{
	const uint64_t *at = u64_map_find(&s->x->p->node_of, results_id(s->x, handle));

	return at ? results_known(*at) : NO_VALUE;
}

static struct roctrace_span span_of(
	const struct lists *s, const struct results_record *v, enum roctrace_lane lane)
{
	const uint64_t *pid = u64_map_find(&s->x->p->pid_of, s->x->process);

	return (struct roctrace_span){.lane = lane,
		.pid = pid ? results_known(*pid) : 0,
		.of = lane == LANE_THREAD ? results_known(v->thread) : node_of(s, v->agent),
		.queue = NO_VALUE,
		.from_ns = results_known(v->start_ns),
		.to_ns = results_known(v->end_ns),
		.stack = results_known(v->stack),
		.event = NO_VALUE,
		.name = text_of(s, TEXT_OPERATION, v->kind, v->operation),
		.category = text_of(s, TEXT_KIND, v->kind, 0)};
}

static void add(struct lists *s, const struct roctrace_span *span)
{
	if (!roctrace_add(run_of(s), span))
		results_no_memory(s->x);
}

static void add_launch(struct lists *s, const struct results_record *v)
{
	struct roctrace_span span = span_of(s, v, LANE_QUEUE);
	struct trace_launch l;
	const struct sampled_kernel *k = results_launch(s->x, v, &l);

	span.of = l.agent = node_of(s, v->info.agent);
	span.queue = results_known(v->info.queue);
	span.event = l.dispatch;
	span.name = str_of(k && k->name ? k->name : "");
	span.category = STR("KERNEL_DISPATCH");
	if (k && !roctrace_add_launch(run_of(s), &span, &l))
		results_no_memory(s->x);
}

static void read_dispatch(struct lists *s)
{
	struct results_record v;

	if (results_next(s->x, &v))
		add_launch(s, &v);
}

static void read_copy(struct lists *s)
{
	struct results_record v;
	struct roctrace_span span;

	if (!results_next(s->x, &v))
		return;
	span = span_of(s, &v, LANE_COPIES);
	span.category = STR("MEMORY_COPY");
	add(s, &span);
}

/* Uses the words of the database: "MEMORY_ALLOCATION_VMEM_FREE" is "FREE VIRTUAL". */
static void read_memory(struct lists *s)
{
	static const char *const levels[][2] = {{"MEMORY_ALLOCATION_VMEM_", "VIRTUAL"},
		{"MEMORY_ALLOCATION_", "REAL"}, {"SCRATCH_MEMORY_", "SCRATCH"}};
	struct results_record v;
	struct roctrace_span span;
	char name[64];

	if (!results_next(s->x, &v))
		return;
	span = span_of(s, &v, LANE_MEMORY);
	span.category = STR("MEMORY_ALLOCATION");
	for (unsigned i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		struct str type = str_sub(span.name, strlen(levels[i][0]), 20);

		if (!str_starts(span.name, levels[i][0]))
			continue;
		snprintf(name, sizeof(name), "%.*s %s",
			STR_ARG(str_is(type, "ALLOCATE") ? STR("ALLOC") : type), levels[i][1]);
		span.name = str_of(name);
		break;
	}
	add(s, &span);
}

static void read_call(struct lists *s)
{
	struct results_record v;
	struct roctrace_span span;
	struct str message;

	if (!results_next(s->x, &v))
		return;
	span = span_of(s, &v, LANE_THREAD);
	if (str_starts(span.category, "MARKER")) {
		message = text_of(s, TEXT_MARKER, v.stack, 0);
		span.name = message.n ? message : span.name;
		span.lane = LANE_MARKERS;
	}
	add(s, &span);
}

/* --- counters of launches --- */

static bool get_value(const struct json_member *m)
{
	return json_get_double(m->r, m->at);
}

static const struct json_field counted_fields[] = {
	JSON_FIELD(counted, counter, "counter_id", .get = results_get_id),
	JSON_FIELD(counted, value, "value", .get = get_value),
};

static bool get_counted(const struct json_member *m)
{
	struct lists *s = m->ctx;

	for (json_enter_array_or_null(m->r); json_next_item(m->r);) {
		struct counted c = {.counter = UINT64_MAX};

		if (json_get_fields(m->r, JSON_FIELDS(counted_fields), &c, s) &&
			!VEC_PUSH(&s->counted, c))
			results_no_memory(s->x);
	}
	return !m->r->is_failed;
}

struct counting {
	struct results_record launch;
	uint32_t n;
};
static const struct json_field counting_fields[] = {
	JSON_FIELD(counting, launch, "dispatch_data", .get = results_get_record),
	JSON_FIELD(counting, n, "records", .get = get_counted),
};

/* If launches were not traced, only the counted ones are known. */
static void read_counting(struct lists *s)
{
	struct counting c;
	int64_t event;

	memset(&c, 0xff, sizeof(c));
	s->counted.n = 0;
	if (!json_get_fields(&s->x->r, JSON_FIELDS(counting_fields), &c, s))
		return;
	event = results_known(c.launch.info.dispatch);
	if (!roctrace_knows_time(run_of(s), event))
		add_launch(s, &c.launch);
	EACH (const struct counted, v, s->counted.v, s->counted.n)
		if (!roctrace_add_value(run_of(s), event, results_known(v->counter), v->value))
			results_no_memory(s->x);
}

/* --- the document --- */

static const struct list {
	const char *in, *ends; /* in: the parent key, "": the process; ends: the end of the key */
	enum walk walk;
	void (*read)(struct lists *s);
} all_lists[] = {
	{"", "counters", WALK_NAMES, read_counter},
	{"strings", "buffer_records", WALK_NAMES, read_kind},
	{"strings", "marker_api", WALK_NAMES, read_message},
	{"buffer_records", "kernel_dispatch", WALK_DEVICE, read_dispatch},
	{"buffer_records", "memory_copy", WALK_DEVICE, read_copy},
	{"buffer_records", "memory_allocation", WALK_DEVICE, read_memory},
	{"buffer_records", "scratch_memory", WALK_DEVICE, read_memory},
	{"callback_records", "counter_collection", WALK_VALUES, read_counting},
	{"buffer_records", "_api", WALK_CALLS, read_call},
};

static void read_list(struct lists *s, const char *in, struct str key)
{
	const struct list *l = NULL;

	for (unsigned i = 0; i < sizeof(all_lists) / sizeof(all_lists[0]); i++)
		if (all_lists[i].walk == s->walk && !strcmp(all_lists[i].in, in) &&
			str_ends(key, all_lists[i].ends))
			l = &all_lists[i];
	if (!l || json_peek(&s->x->r) != JSON_ARRAY) {
		json_skip(&s->x->r);
		return;
	}
	s->index = 0;
	for (json_enter_array(&s->x->r); json_next_item(&s->x->r); s->index++)
		l->read(s);
}

static void read_process(struct results *x)
{
	struct lists *s = x->lists;
	struct str key, inner;

	run_of(s)->number = (uint32_t)x->process;
	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		const char *in = str_is(key, "strings")		   ? "strings"
				 : str_is(key, "buffer_records")   ? "buffer_records"
				 : str_is(key, "callback_records") ? "callback_records"
								   : NULL;

		if (!in)
			read_list(s, "", key);
		else
			for (json_enter_object(&x->r); json_next_key(&x->r, &inner);)
				read_list(s, in, inner);
	}
	if (s->walk == WALK_VALUES && !roctrace_end_run(run_of(s)))
		results_no_memory(x);
}

static bool put_about(const struct pcs *p, struct roctrace *r)
{
	const struct pcs_agent *a = p->agents.n ? &p->agents.v[0] : &(struct pcs_agent){0};
	struct arena *to = &r->t->arena;

	r->arch = a->name ? arena_strdup(to, a->name) : NULL;
	r->product = a->product ? arena_strdup(to, a->product) : NULL;
	r->arch_source = "agents";
	r->command = p->command ? arena_strdup(to, p->command) : NULL;
	r->evidence = p->set.is_synthetic ? "synthetic" : NULL;
	return !a->name == !r->arch && !a->product == !r->product && !p->command == !r->command &&
	       roctrace_put_meta(r);
}

bool results_timeline(
	struct results *x, const struct file_data *f, const char *path, struct incore_error *e)
{
	struct lists s = {.x = x};
	bool ok = roctrace_init(run_of(&s), run_of(&s)->t, path) || err_nomem(e);

	x->lists = &s;
	for (; ok && s.walk < WALKS; s.walk++)
		ok = results_walk(x, f, path, read_process, e);
	x->lists = NULL;
	u64_map_deinit(&s.text_at);
	VEC_FREE(&s.counted);
	return ok && (put_about(x->p, x->p->timeline) || err_nomem(e));
}
