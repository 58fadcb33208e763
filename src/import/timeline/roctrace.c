/* SPDX-License-Identifier: Apache-2.0 */
/* roctrace.c: makes lanes, links, counters and metadata from what rocprofv3 traced. */
#include "import/roctrace.h"

#include <math.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/search.h"
#include "import/timeline/timeline.h"

struct started { /* a launch or copy whose call was not read yet */
	uint32_t lane;
	int64_t at_ns;
};

struct roctrace_value {		 /* value of a counter; instances are summed */
	uint64_t counter, event; /* counter: index */
	double v;
};

struct roctrace_lanes {
	struct timeline timeline;
	struct intern kernels;	   /* names, in order of first launch */
	struct u64_map event_time; /* event -> its time + 1 */
	struct u64_map counter_at; /* id -> index + 1 */
	struct u64_map started_at; /* stack -> index + 1 */
	VEC(struct started) started;
	VEC(const char *) counters; /* name and unit in turn */
	VEC(struct roctrace_value) values;
};

static const char *const lane_names[] = {
	"markers of thread", "thread", "memory of agent", "copies to agent", "agent"};

bool roctrace_init(struct roctrace *r, struct trace *t, const char *path)
{
	*r = (struct roctrace){.t = t, .launch = trace_no_launch()};
	r->lanes = mem_zalloc(1, sizeof(*r->lanes));
	if (!r->lanes)
		return false;
	tl_init(&r->lanes->timeline, t, path);
	intern_init(&r->lanes->kernels);
	return true;
}

void roctrace_deinit(struct roctrace *r)
{
	struct roctrace_lanes *l = r->lanes;

	if (!l)
		return;
	intern_deinit(&l->kernels);
	tl_deinit(&l->timeline);
	u64_map_deinit(&l->event_time);
	u64_map_deinit(&l->counter_at);
	u64_map_deinit(&l->started_at);
	VEC_FREE(&l->started);
	VEC_FREE(&l->counters);
	VEC_FREE(&l->values);
	mem_free(l);
}

/* A unique id, since ids are per run; 0: none. */
static uint64_t id_in(const struct roctrace *r, int64_t id)
{
	return id == NO_VALUE ? 0 : hash_mix64((uint64_t)id ^ (uint64_t)(r->number + 1) << 48) | 1;
}

static const char *roctrace_copied(struct roctrace *r, struct str s)
{
	return arena_strndup(&r->t->arena, s.n ? s.p : "", s.n);
}

/* --- lanes and slices --- */

static uint32_t roctrace_process_of(struct roctrace *r, int64_t pid)
{
	struct timeline *l = &r->lanes->timeline;
	char key[48], name[48];
	uint32_t i;

	snprintf(key, sizeof(key), "%u %lld", r->number, (long long)pid);
	i = tl_process(l, str_of(key));
	if (i != TL_NONE && !l->processes.v[i].name) {
		snprintf(name, sizeof(name), "process %lld", (long long)pid);
		l->processes.v[i].name = roctrace_copied(r, str_of(name));
		l->processes.v[i].sort = i;
		if (!l->processes.v[i].name)
			return TL_NONE;
	}
	return i;
}

static uint32_t roctrace_lane_of(struct roctrace *r, const struct roctrace_span *s)
{
	uint32_t process = roctrace_process_of(r, s->pid), i;
	struct timeline *l = &r->lanes->timeline;
	char key[96], name[96];
	int n;

	if (process == TL_NONE)
		return TL_NONE;
	snprintf(key, sizeof(key), "%d %lld %lld", (int)s->lane, (long long)s->of,
		(long long)s->queue);
	i = tl_lane(l, process, str_of(key));
	if (i == TL_NONE || l->lanes.v[i].name)
		return i;
	n = s->of == NO_VALUE ? snprintf(name, sizeof(name), "%s ?", lane_names[s->lane])
			      : snprintf(name, sizeof(name), "%s %lld", lane_names[s->lane],
					(long long)s->of);
	if (s->lane == LANE_QUEUE)
		snprintf(name + n, sizeof(name) - (size_t)n, " queue %lld", (long long)s->queue);
	l->lanes.v[i].name = roctrace_copied(r, str_of(name));
	l->lanes.v[i].sort = s->lane;
	return l->lanes.v[i].name ? i : TL_NONE;
}

bool roctrace_know_time(struct roctrace *r, int64_t event, int64_t at_ns)
{
	uint64_t *at;

	if (event == NO_VALUE || at_ns == NO_VALUE)
		return true;
	at = u64_map_at(&r->lanes->event_time, id_in(r, event));
	if (at)
		*at = (uint64_t)at_ns + 1;
	return at != NULL;
}

bool roctrace_knows_time(const struct roctrace *r, int64_t event)
{
	return u64_map_find(&r->lanes->event_time, id_in(r, event)) != NULL;
}

static bool know_start(struct roctrace *r, const struct roctrace_span *s, uint32_t lane)
{
	uint64_t *at;

	if (s->stack == NO_VALUE)
		return true;
	at = u64_map_at(&r->lanes->started_at, id_in(r, s->stack));
	if (!at || !VEC_PUSH(&r->lanes->started, (struct started){lane, s->from_ns}))
		return false;
	*at = r->lanes->started.n;
	return true;
}

/* Adds a flow from the call to what it started. */
static bool roctrace_add_flow(struct roctrace *r, const struct roctrace_span *s, uint32_t lane)
{
	const uint64_t *at = u64_map_find(&r->lanes->started_at, id_in(r, s->stack));
	struct tl_flow f = {.key = id_in(r, s->stack), .at_ns = s->from_ns, .lane = lane};

	if (s->stack == NO_VALUE || !at)
		return true;
	if (!tl_add_flow(&r->lanes->timeline, f))
		return false;
	f.lane = r->lanes->started.v[*at - 1].lane;
	f.at_ns = r->lanes->started.v[*at - 1].at_ns;
	f.step = TL_FLOW_END;
	return tl_add_flow(&r->lanes->timeline, f);
}

/* A span without a time, or that ends before it begins, is invalid and counted. */
bool roctrace_add(struct roctrace *r, const struct roctrace_span *s)
{
	struct tl_slice slice = {.from_ns = s->from_ns, .to_ns = s->to_ns};
	uint32_t lane = roctrace_lane_of(r, s);

	if (lane == TL_NONE || !roctrace_know_time(r, s->event, s->from_ns))
		return false;
	if (slice.from_ns == NO_VALUE || slice.to_ns < slice.from_ns) {
		r->n_damaged++;
		return true;
	}
	if ((s->lane >= LANE_COPIES && !know_start(r, s, lane)) ||
		(s->lane == LANE_THREAD && !roctrace_add_flow(r, s, lane)))
		return false;
	slice.kind = slice.from_ns == slice.to_ns ? TL_INSTANT : TL_SLICE;
	slice.code =
		tl_row(&r->lanes->timeline, s->name.n ? s->name : STR("(no name)"), s->category);
	return tl_add_slice(&r->lanes->timeline, lane, slice);
}

bool roctrace_add_launch(
	struct roctrace *r, const struct roctrace_span *s, const struct trace_launch *l)
{
	int64_t n = r->launch.launch_count == NO_VALUE ? 1 : r->launch.launch_count + 1;

	if (n == 1)
		r->launch = *l;
	r->launch.launch_count = n;
	return intern_add(&r->lanes->kernels, s->name) != INTERN_NONE && roctrace_add(r, s);
}

/* --- counters --- */

bool roctrace_add_counter(struct roctrace *r, int64_t id, struct str name, struct str unit)
{
	const char *its = roctrace_copied(r, name),
		   *shown = roctrace_copied(r, unit.n ? unit : STR("value"));
	uint64_t *at = u64_map_at(&r->lanes->counter_at, id_in(r, id));

	if (!at || !its || !shown || !VEC_PUSH(&r->lanes->counters, its) ||
		!VEC_PUSH(&r->lanes->counters, shown))
		return false;
	*at = r->lanes->counters.n / 2;
	return true;
}

bool roctrace_add_value(struct roctrace *r, int64_t event, int64_t counter, double v)
{
	const uint64_t *at = u64_map_find(&r->lanes->counter_at, id_in(r, counter));
	struct roctrace_value value = {.event = id_in(r, event), .v = v};

	if (!at || !isfinite(v) || !roctrace_knows_time(r, event)) {
		r->n_damaged++;
		return true;
	}
	value.counter = *at - 1;
	return VEC_PUSH(&r->lanes->values, value);
}

ORDER(by_counter, struct roctrace_value, UP(counter) UP(event) UP(v))

bool roctrace_end_run(struct roctrace *r)
{
	uint32_t process = r->lanes->values.n ? roctrace_process_of(r, 0) : 0;

	if (process == TL_NONE)
		return false;
	SORT(r->lanes->values.v, r->lanes->values.n, by_counter);
	for (size_t i = 0, n; i < r->lanes->values.n; i += n) {
		const struct roctrace_value *v = &r->lanes->values.v[i];
		const uint64_t *time = u64_map_find(&r->lanes->event_time, v->event);
		double sum = 0;

		for (n = 0; i + n < r->lanes->values.n && v[n].counter == v->counter &&
			    v[n].event == v->event;
			n++)
			sum += v[n].v;
		if (!tl_add_counter(&r->lanes->timeline, process,
			    str_of(r->lanes->counters.v[2 * v->counter]),
			    str_of(r->lanes->counters.v[2 * v->counter + 1]), (int64_t)(*time - 1),
			    sum))
			return false;
	}
	r->lanes->values.n = 0;
	r->n_runs++;
	return true;
}

/* --- the trace --- */

static bool roctrace_put_kernels(struct trace *t, const struct intern *names)
{
	t->kernel_names = arena_zalloc(&t->arena, (size_t)names->n + 1, sizeof(*t->kernel_names));
	for (uint32_t i = 0; t->kernel_names && i < names->n; i++) {
		const char *name = arena_strndup(&t->arena, names->strs[i].p, names->strs[i].n);

		if (!name)
			return false;
		t->kernel_names[i] = (struct kernel_name){i + 1, name};
	}
	t->n_kernel_names = t->kernel_names ? names->n : 0;
	if (names->n == 1 && t->kernel_names)
		t->meta.kernel = t->kernel_names[0].name;
	return t->kernel_names != NULL;
}

bool roctrace_put_meta(struct roctrace *r)
{
	struct trace_meta *m = &r->t->meta;
	enum evidence stated = r->evidence ? evidence_of(str_of(r->evidence)) : EVIDENCE_UNKNOWN;

	m->vendor = VENDOR_AMD;
	m->evidence = stated != EVIDENCE_UNKNOWN ? stated : EVIDENCE_HARDWARE_TRACE;
	m->format_version = r->version;
	m->arch = r->arch;
	m->arch_source = r->arch ? r->arch_source : NULL;
	m->machine.product = r->product;
	if (r->launch.launch_count == 1)
		m->launch = r->launch;
	m->launch.launch_count = r->launch.launch_count;
	m->launch.command = r->command;
	return roctrace_put_kernels(r->t, &r->lanes->kernels);
}

static bool roctrace_put_notes(const struct roctrace *r)
{
	if (!trace_note(r->t, "timeline", NULL, INCORE_NO_OFFSET, 1,
		    "calls, launches, copies and markers of a run; no instruction was traced. "
		    "Launches and copies have the device's times, calls the host's"))
		return false;
	if (r->n_runs > 1 && !trace_note(r->t, "several-runs", NULL, INCORE_NO_OFFSET, r->n_runs,
				     "the file holds %llu runs", (unsigned long long)r->n_runs))
		return false;
	return !r->n_damaged ||
	       trace_note(r->t, "damaged-records", NULL, INCORE_NO_OFFSET, r->n_damaged,
		       "records without a valid time, counter or event were left out");
}

bool roctrace_is_empty(const struct roctrace *r)
{
	return !r->lanes || !r->lanes->timeline.lanes.n;
}

bool roctrace_finish(struct roctrace *r, struct incore_error *e)
{
	return roctrace_put_notes(r) ? tl_finish(&r->lanes->timeline, e) : err_nomem(e);
}
