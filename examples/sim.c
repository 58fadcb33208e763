/* SPDX-License-Identifier: Apache-2.0 */
/* sim.c: when does each instruction of each wave issue? Waves step in time order; pipes, memory and
 * barriers make them wait. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SE 8
#define MAX_SIMD 4

enum unit {
	UNIT_SALU,
	UNIT_VALU,
	UNIT_MATRIX,
	UNIT_SMEM,
	UNIT_VMEM,
	UNIT_FLAT,
	UNIT_LDS,
	UNIT_WAIT,
	UNIT_NOP,
	UNIT_BARRIER,
	UNIT_BRANCH,
	UNIT_END
};

/* Instructions of a compute unit that are on their way. */
struct flight {
	uint64_t done[SIM_MAX_QUEUE];
	unsigned n;
};

/* Pipes that waves share; the time from which each is free. */
struct pipes {
	uint64_t salu[MAX_SE][MAX_SIMD]; /* with limits: one for the waves of a SIMD */
	uint64_t lds_data[MAX_SE], l1_data[MAX_SE], hbm[MAX_SE];
	struct flight vmem_flight[MAX_SE], lds_flight[MAX_SE];
	uint64_t valu[MAX_SE][MAX_SIMD], matrix[MAX_SE][MAX_SIMD];
	uint64_t lds[MAX_SE], vmem[MAX_SE];
};

bool sim_is(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

uint64_t sim_random(uint64_t seed, uint64_t key, uint64_t n)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15u + key * 0xd6e8feb86659fd93u + 0x1234567;

	x ^= x >> 31;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 29;
	return n ? (x >> 8) % n : 0;
}

static enum unit unit_of(const char *t)
{
	static const struct {
		const char *prefix;
		enum unit unit;
	} table[] = {
		{"s_waitcnt", UNIT_WAIT},
		{"s_wait_", UNIT_WAIT},
		{"s_nop", UNIT_NOP},
		{"s_barrier", UNIT_BARRIER},
		{"s_endpgm", UNIT_END},
		{"s_cbranch", UNIT_BRANCH},
		{"s_branch", UNIT_BRANCH},
		{"s_load", UNIT_SMEM},
		{"v_mfma", UNIT_MATRIX},
		{"v_wmma", UNIT_MATRIX},
		{"v_", UNIT_VALU},
		{"buffer_", UNIT_VMEM},
		{"global_", UNIT_FLAT},
		{"scratch_", UNIT_FLAT},
		{"ds_", UNIT_LDS},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (sim_is(t, table[i].prefix))
			return table[i].unit;
	}
	return UNIT_SALU;
}

void sim_layout(struct sim_program *p)
{
	uint64_t at = p->vaddr;

	for (unsigned i = 0; i < p->n; i++) {
		enum unit u = unit_of(p->rows[i].text);
		bool is_long = u == UNIT_SMEM || u == UNIT_VMEM || u == UNIT_FLAT ||
			       u == UNIT_LDS || u == UNIT_MATRIX || strstr(p->rows[i].text, "0x");

		p->address[i] = at;
		at += is_long ? 8 : 4;
	}
	for (unsigned i = 0; i < p->n; i++) {
		const struct sim_row *r = &p->rows[i];
		char *text = p->text[i];
		const char *percent = strstr(r->text, "%u");

		if (!percent) {
			snprintf(text, sizeof(p->text[i]), "%s", r->text);
			continue;
		}
		/* The signed word offset is printed as an unsigned 16-bit number. */
		int64_t words = ((int64_t)p->address[r->to - 1] - (int64_t)p->address[i] - 4) / 4;

		snprintf(text, sizeof(p->text[i]), "%.*s%u", (int)(percent - r->text), r->text,
			(unsigned)(uint16_t)words);
	}
}

static bool grow(void **p, size_t *cap, size_t n, size_t size)
{
	void *q;

	if (n < *cap)
		return true;
	q = realloc(*p, (*cap ? *cap * 2 : 64) * size);
	if (!q)
		return false;
	*p = q;
	*cap = *cap ? *cap * 2 : 64;
	return true;
}

static uint64_t round_up(const struct sim *s, uint64_t v)
{
	return (v + s->quantum - 1) / s->quantum * s->quantum;
}

/* --- waits --- */

static void queue_push(struct sim_queue *q, uint32_t line, uint64_t done)
{
	if (q->n == SIM_MAX_QUEUE)
		return;
	q->line[q->n] = line;
	/* In order but for SMEM. */
	q->done[q->n] =
		q->n && !q->is_parallel && q->done[q->n - 1] > done ? q->done[q->n - 1] : done;
	q->n++;
}

static uint64_t queue_wait(struct sim_wave *w, struct sim_queue *q, unsigned left, uint32_t line)
{
	uint64_t ready = 0;
	unsigned n;
	struct sim_wait *e;

	if (left == 0)
		q->is_parallel = false;
	if (q->is_parallel || q->n <= left)
		return 0;
	n = q->n - left;
	if (!grow((void **)&w->waits, &w->waits_cap, w->n_waits, sizeof(*w->waits)))
		return 0;
	e = &w->waits[w->n_waits++];
	e->record = w->n;
	e->line = line;
	e->n = n;
	for (unsigned i = 0; i < n; i++) {
		e->producer[i] = q->line[i];
		if (q->done[i] > ready)
			ready = q->done[i];
	}
	memmove(q->line, q->line + n, left * sizeof(*q->line));
	memmove(q->done, q->done + n, left * sizeof(*q->done));
	q->n = left;
	return ready;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t wait_ready(struct sim_wave *w, const char *text, uint32_t line)
{
	static const struct {
		const char *word;
		enum sim_counter counter;
	} words[] = {
		{"lgkmcnt(", SIM_LGKM},
		{"vmcnt(", SIM_VM},
		{"s_waitcnt_vscnt null, ", SIM_STORE},
		{"s_wait_storecnt ", SIM_STORE},
		{"s_wait_loadcnt ", SIM_VM},
		{"s_wait_kmcnt ", SIM_KM},
		{"s_wait_dscnt ", SIM_DS},
	};
	uint64_t ready = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *at = strstr(text, words[i].word);

		if (at)
			ready = later(ready,
				queue_wait(w, &w->queue[words[i].counter],
					(unsigned)strtoul(at + strlen(words[i].word), NULL, 0),
					line));
	}
	return ready;
}

/* --- changes --- */

/* What is left of some cycles of the row that the wave stands on. */
static uint64_t scaled(const struct sim *s, const struct sim_wave *w, uint64_t cyc)
{
	unsigned k = s->changes ? s->changes[w->pc].faster_milli : 0;

	return k ? round_up(s, cyc * 1000 / k) : cyc;
}

/* The key of a random number: the time, or the place where runs are compared. */
static uint64_t key_of(const struct sim *s, const struct sim_wave *w, uint64_t time)
{
	size_t wave = (size_t)(w - s->waves);

	return s->changes ? (wave + 1) * 1000003u + w->n_steps : time;
}

/* --- one record --- */

static void add_segment(struct sim_wave *w, uint32_t state, uint64_t duration)
{
	if (!duration)
		return;
	if (w->n_segments && w->segments[w->n_segments - 1].state == state) {
		w->segments[w->n_segments - 1].duration += (uint32_t)duration;
		return;
	}
	if (!grow((void **)&w->segments, &w->segments_cap, w->n_segments, sizeof(*w->segments)))
		return;
	w->segments[w->n_segments++] = (struct sim_segment){state, (uint32_t)duration};
}

/* Gap, stall and issue of a record as the state stream shows them: 1 IDLE 2 EXEC 3 WAIT 4 STALL. */
static void add_states(struct sim_wave *w, const struct sim_record *r, uint64_t prev_end)
{
	uint64_t issue = r->duration - r->stall;

	if (r->time >= prev_end) {
		add_segment(w, w->n ? 2 : 1, r->time - prev_end);
	} else if (w->n_segments) {
		struct sim_segment *last = &w->segments[w->n_segments - 1];

		last->duration -= (uint32_t)(prev_end - r->time);
		if (!last->duration)
			w->n_segments--;
	}
	add_segment(w, r->category == 9 || r->category == 11 ? 3 : 4, r->stall);
	add_segment(w, r->category == 11 ? 3 : 2, issue);
}

static void add_record(struct sim_wave *w, uint64_t time, uint32_t category, uint64_t stall,
	uint64_t issue, uint32_t line)
{
	struct sim_record r = {time, category, (uint32_t)stall, (uint32_t)(stall + issue), line};

	if (!grow((void **)&w->records, &w->cap, w->n, sizeof(*w->records)))
		return;
	add_states(w, &r, w->now);
	w->records[w->n++] = r;
	w->now = time + r.duration;
}

static uint64_t gap_before(const struct sim *s, const struct sim_wave *w, enum unit u)
{
	const struct sim_record *last;
	enum unit before;

	if (!w->n)
		return round_up(s, 24 + sim_random(s->seed, w->begin + w->simd, 12));
	last = &w->records[w->n - 1];
	before = unit_of(s->program->rows[last->line - 1].text);
	if (last->category == 7)
		return 3 * s->quantum;
	if ((before == UNIT_VALU || before == UNIT_MATRIX) &&
		(u == UNIT_LDS || u == UNIT_SALU || u == UNIT_VMEM || u == UNIT_FLAT))
		return s->quantum * (1 + sim_random(s->seed, key_of(s, w, w->now), 2));
	return 0;
}

static uint64_t stall_for(const struct sim *s, uint64_t free_at, uint64_t time)
{
	return free_at > time ? round_up(s, free_at - time) : 0;
}

/* --- a machine with limits --- */

static unsigned lane_bytes(const char *text)
{
	return strstr(text, "x4") || strstr(text, "b128")  ? 16
	       : strstr(text, "x2") || strstr(text, "b64") ? 8
							   : 4;
}

/* When there is room for one more, at `time` or later. */
static uint64_t flight_room(struct flight *f, unsigned most, uint64_t time)
{
	uint64_t first = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < f->n; i++)
		if (f->done[i] > time) {
			f->done[n++] = f->done[i];
			first = n == 1 || f->done[i] < first ? f->done[i] : first;
		}
	f->n = n;
	return n < most ? time : first;
}

static void flight_add(struct flight *f, uint64_t done)
{
	if (f->n == SIM_MAX_QUEUE) {
		memmove(f->done, f->done + 1, (SIM_MAX_QUEUE - 1) * sizeof(*f->done));
		f->n--;
	}
	f->done[f->n++] = done;
}

/* Moves bytes over a path that takes them one after the other; returns when they are through. */
static uint64_t moved(uint64_t *free_at, uint64_t time, uint64_t bytes, unsigned rate)
{
	*free_at = later(*free_at, time) + bytes * 16 / rate;
	return *free_at;
}

/* When it can be issued, and when its result is there. */
static uint64_t limited(struct sim *s, struct pipes *p, const struct sim_wave *w, enum unit u,
	uint64_t time, uint64_t *done)
{
	const struct sim_rates *r = s->rates;
	const char *text = s->program->text[w->pc];
	const uint64_t bytes = 64u * lane_bytes(text);
	uint64_t key = key_of(s, w, time) * 31 + w->pc + w->simd * 7, at = time;
	struct flight *f = u == UNIT_LDS ? &p->lds_flight[w->se] : &p->vmem_flight[w->se];

	if (u == UNIT_SMEM) {
		*done = time + r->scalar_cyc + sim_random(s->seed, key, r->scalar_cyc / 8 + 1);
		return time;
	}
	at = flight_room(f, u == UNIT_LDS ? r->lds_queue : r->vmem_queue, time);
	if (u == UNIT_LDS) {
		*done = later(at + r->lds_cyc,
			moved(&p->lds_data[w->se], at, bytes, r->lds_bytes) + r->lds_cyc / 2);
	} else {
		uint64_t latency = r->memory_cyc + sim_random(s->seed, key, r->memory_cyc / 8 + 1);

		*done = later(at + latency,
			moved(&p->l1_data[w->se], at, bytes, r->l1_bytes) + r->memory_cyc / 4);
		if (strstr(text, " nt"))
			*done = later(*done,
				moved(&p->hbm[w->se], at, bytes, r->hbm_bytes) + r->memory_cyc / 2);
	}
	*done = round_up(s, *done);
	flight_add(f, *done);
	return at;
}

static void step_memory(
	struct sim *s, struct pipes *p, struct sim_wave *w, enum unit u, uint64_t time)
{
	const char *text = s->program->text[w->pc];
	uint32_t line = w->pc + 1;
	uint64_t key = key_of(s, w, time) * 31 + line + w->simd * 7;
	uint64_t *pipe = u == UNIT_LDS ? &p->lds[w->se] : &p->vmem[w->se];
	uint64_t stall = u == UNIT_SMEM ? 0 : stall_for(s, *pipe, time);
	uint64_t issue = scaled(s, w, u == UNIT_LDS ? 2 * s->quantum : s->quantum), done;
	enum sim_counter counter = u == UNIT_LDS || u == UNIT_SMEM ? SIM_LGKM : SIM_VM;
	bool is_store = strstr(text, "store") != NULL && u != UNIT_LDS;

	if (s->gfx >= 12)
		counter = u == UNIT_LDS ? SIM_DS : u == UNIT_SMEM ? SIM_KM : SIM_VM;
	if (s->gfx >= 10 && is_store)
		counter = SIM_STORE;
	if (s->rates) {
		stall = later(stall, stall_for(s, limited(s, p, w, u, time + stall, &done), time));
	} else if (u == UNIT_SMEM) {
		done = time + scaled(s, w, 160 + sim_random(s->seed, key, 240));
	} else if (u == UNIT_LDS) {
		done = time + stall + scaled(s, w, 64 + sim_random(s->seed, key, 32));
	} else {
		done = time + stall + scaled(s, w, 420 + sim_random(s->seed, key, 400));
	}
	*pipe = u == UNIT_SMEM ? *pipe : time + stall + scaled(s, w, 2 * s->quantum);
	if (u == UNIT_SMEM)
		w->queue[counter].is_parallel = true;
	queue_push(&w->queue[counter], line, done);
	if (is_store)
		w->drained = later(w->drained, done);
	add_record(w, time,
		u == UNIT_SMEM	 ? 1
		: u == UNIT_VMEM ? 3
		: u == UNIT_FLAT ? 4
				 : 5,
		stall, issue, line);
}

static void step_vector(
	struct sim *s, struct pipes *p, struct sim_wave *w, enum unit u, uint64_t time)
{
	uint64_t *valu = &p->valu[w->se][w->simd], *matrix = &p->matrix[w->se][w->simd];
	uint64_t stall = stall_for(s, u == UNIT_MATRIX ? later(*valu, *matrix) : *valu, time);

	*valu = time + stall + scaled(s, w, s->quantum);
	if (u == UNIT_MATRIX)
		*matrix = time + stall + scaled(s, w, 4 * s->quantum);
	add_record(w, time, 6, stall, scaled(s, w, s->quantum), w->pc + 1);
}

static void step_scalar(struct sim *s, struct pipes *p, struct sim_wave *w, uint64_t time)
{
	uint64_t *salu = &p->salu[w->se][w->simd];
	uint64_t stall = s->rates ? stall_for(s, *salu, time) : 0;

	*salu = time + stall + s->quantum;
	add_record(w, time, 2, stall, scaled(s, w, s->quantum), w->pc + 1);
}

static void step_branch(struct sim *s, struct sim_wave *w, uint64_t time)
{
	const struct sim_row *r = &s->program->rows[w->pc];
	int times = w->is_idle ? r->idle_times : r->times;
	bool is_taken = times < 0 || w->taken[w->pc]++ < times;

	add_record(w, time, is_taken ? 7 : 8, 0, s->quantum, w->pc + 1);
	if (!is_taken)
		w->taken[w->pc] = 0;
	w->pc = is_taken ? r->to - 1 : w->pc + 1;
}

static void step_wait(struct sim *s, struct sim_wave *w, enum unit u, uint64_t time)
{
	const char *text = s->program->text[w->pc];
	uint32_t line = w->pc + 1;
	uint64_t stall;

	if (u == UNIT_NOP) {
		stall = scaled(s, w, s->quantum * (strtoul(text + 6, NULL, 0) + 1));
		if (w->has_overlap && s->quantum == 4) {
			w->has_overlap = false;
			time = w->now - 4;
		}
	} else {
		uint64_t ready = wait_ready(w, text, line);

		stall = later(s->quantum, ready > time ? round_up(s, ready - time) : 0);
	}
	add_record(w, time, 9, stall, 0, line);
}

/* Blocks until every wave of the workgroup is here. */
static void step_barrier(struct sim *s, struct sim_wave *w, uint64_t time)
{
	uint64_t release = 0;

	w->arrival = time;
	w->is_blocked = true;
	for (size_t i = 0; i < s->n_waves; i++) {
		struct sim_wave *o = &s->waves[i];

		if (o->se != w->se || o->workgroup != w->workgroup || o->is_done)
			continue;
		if (!o->is_blocked)
			return;
		release = later(release, o->arrival);
	}
	release += 2 * s->quantum;
	for (size_t i = 0; i < s->n_waves; i++) {
		struct sim_wave *o = &s->waves[i];

		if (o->se != w->se || o->workgroup != w->workgroup || !o->is_blocked)
			continue;
		o->is_blocked = false;
		add_record(o, o->arrival, 9, release - o->arrival, 0, o->pc + 1);
		o->pc++;
	}
}

static void step(struct sim *s, struct pipes *p, struct sim_wave *w)
{
	enum unit u = unit_of(s->program->rows[w->pc].text);
	uint64_t time = w->now + gap_before(s, w, u);

	w->n_steps++;
	if (s->changes && s->changes[w->pc].is_removed) {
		w->pc++;
		return;
	}
	switch (u) {
	case UNIT_BARRIER:
		step_barrier(s, w, time);
		return;
	case UNIT_BRANCH:
		step_branch(s, w, time);
		return;
	case UNIT_END:
		add_record(w, time, 11, 0,
			later(4 * s->quantum,
				w->drained > time ? round_up(s, w->drained - time) : 0),
			w->pc + 1);
		w->is_done = true;
		return;
	case UNIT_VALU:
	case UNIT_MATRIX:
		step_vector(s, p, w, u, time);
		break;
	case UNIT_SMEM:
	case UNIT_VMEM:
	case UNIT_FLAT:
	case UNIT_LDS:
		step_memory(s, p, w, u, time);
		break;
	case UNIT_WAIT:
	case UNIT_NOP:
		step_wait(s, w, u, time);
		break;
	default:
		step_scalar(s, p, w, time);
	}
	w->pc++;
}

/* A wave whose buffer ran full: the rest of its records and states is gone. */
static void cut(struct sim_wave *w)
{
	uint64_t kept, sum = 0;
	size_t n = 0;

	if (!w->cut_after || w->n <= w->cut_after)
		return;
	w->n = w->cut_after;
	w->now = w->records[w->n - 1].time + w->records[w->n - 1].duration;
	kept = w->now - w->begin;
	while (n < w->n_segments && sum + w->segments[n].duration <= kept)
		sum += w->segments[n++].duration;
	if (n < w->n_segments && sum < kept)
		w->segments[n++].duration = (uint32_t)(kept - sum);
	w->n_segments = n;
	for (n = 0; n < w->n_waits && w->waits[n].record < w->n;)
		n++;
	w->n_waits = n;
}

bool sim_run(struct sim *s)
{
	struct pipes *p = calloc(1, sizeof(*p));

	if (!p)
		return false;
	for (size_t i = 0; i < s->n_waves; i++)
		s->waves[i].now = s->waves[i].begin;
	for (;;) {
		struct sim_wave *next = NULL;

		for (size_t i = 0; i < s->n_waves; i++) {
			struct sim_wave *w = &s->waves[i];

			if (!w->is_done && !w->is_blocked && (!next || w->now < next->now))
				next = w;
		}
		if (!next)
			break;
		step(s, p, next);
	}
	for (size_t i = 0; i < s->n_waves; i++) {
		struct sim_wave *w = &s->waves[i];

		cut(w);
		w->end = (uint64_t)((int64_t)w->now + w->tail);
		if (w->tail > 0)
			add_segment(w, 1, (uint64_t)w->tail);
	}
	free(p);
	return true;
}

void sim_free(struct sim *s)
{
	for (size_t i = 0; i < s->n_waves; i++) {
		free(s->waves[i].records);
		free(s->waves[i].segments);
		free(s->waves[i].waits);
	}
	free(s->waves);
	s->waves = NULL;
	s->n_waves = 0;
}
