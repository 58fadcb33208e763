/* SPDX-License-Identifier: Apache-2.0 */
/* track_data.c: the buffer that holds one track's content, reused from track to track. */
#include "trace/trace.h"

#include "base/mem.h"

/* New capacity, growing by half, so that tracks of increasing length do not reallocate each time.
 */
static uint32_t grown(uint32_t cap, uint32_t need)
{
	uint64_t want = (uint64_t)cap + cap / 2;

	if (want < need)
		want = need;
	if (want < 64)
		want = 64;
	return want > UINT32_MAX ? UINT32_MAX : (uint32_t)want;
}

static bool resize(void **p, uint32_t n, size_t size)
{
	void *q = mem_resize(*p, n, size);

	if (!q)
		return false;
	*p = q;
	return true;
}

bool track_data_reserve(struct track_data *d, uint32_t n_slices)
{
	uint32_t cap;

	if (n_slices <= d->cap)
		return true;
	cap = grown(d->cap, n_slices);
	if (!resize((void **)&d->start_cyc, cap, sizeof(*d->start_cyc)) ||
		!resize((void **)&d->dur_cyc, cap, sizeof(*d->dur_cyc)) ||
		!resize((void **)&d->stall_cyc, cap, sizeof(*d->stall_cyc)) ||
		!resize((void **)&d->code, cap, sizeof(*d->code)) ||
		!resize((void **)&d->inst_class, cap, sizeof(*d->inst_class)) ||
		!resize((void **)&d->tag, cap, sizeof(*d->tag)))
		return false;
	d->cap = cap;
	return true;
}

bool track_data_reserve_numbers(struct track_data *d)
{
	if (d->cap <= d->numbers_cap)
		return true;
	if (!resize((void **)&d->number, d->cap, sizeof(*d->number)))
		return false;
	d->numbers_cap = d->cap;
	return true;
}

bool track_data_reserve_states(struct track_data *d, uint32_t n)
{
	uint32_t cap;

	if (n <= d->states_cap)
		return true;
	cap = grown(d->states_cap, n);
	if (!resize((void **)&d->state, cap, sizeof(*d->state)) ||
		!resize((void **)&d->state_dur_cyc, cap, sizeof(*d->state_dur_cyc)))
		return false;
	d->states_cap = cap;
	return true;
}

bool track_data_reserve_stated(struct track_data *d, uint32_t n_waits, uint32_t n_producers)
{
	uint32_t cap;

	if (n_waits > d->stated_waits_cap) {
		cap = grown(d->stated_waits_cap, n_waits);
		if (!resize((void **)&d->stated_waits, cap, sizeof(*d->stated_waits)))
			return false;
		d->stated_waits_cap = cap;
	}
	if (n_producers > d->stated_producers_cap) {
		cap = grown(d->stated_producers_cap, n_producers);
		if (!resize((void **)&d->stated_producers, cap, sizeof(*d->stated_producers)))
			return false;
		d->stated_producers_cap = cap;
	}
	return true;
}

void track_data_reset(struct track_data *d)
{
	d->n = 0;
	d->is_part = false;
	d->n_states = 0;
	d->n_stated_waits = 0;
	d->n_stated_producers = 0;
	d->n_unknown_code = 0;
	d->begin_cyc = 0;
	d->end_cyc = 0;
	d->stated_slices = 0;
	memset(d->coord_file, 0, sizeof(d->coord_file));
}

void track_data_deinit(struct track_data *d)
{
	if (d->loader_scratch && d->loader_free)
		d->loader_free(d->loader_scratch);
	mem_free(d->start_cyc);
	mem_free(d->dur_cyc);
	mem_free(d->stall_cyc);
	mem_free(d->code);
	mem_free(d->inst_class);
	mem_free(d->tag);
	mem_free(d->number);
	mem_free(d->state);
	mem_free(d->state_dur_cyc);
	mem_free(d->stated_waits);
	mem_free(d->stated_producers);
	*d = (struct track_data){0};
}
