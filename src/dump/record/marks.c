/* SPDX-License-Identifier: Apache-2.0 */
/* marks.c: the selection table, with open addressing; entries are never removed. */
#include "dump/record/marks.h"

#include "base/hash.h"
#include "base/mem.h"

bool marks_init(struct marks *m, uint32_t most)
{
	*m = (struct marks){.most = most, .places = 16};
	while (m->places < (uint64_t)most * 2 && m->places < UINT32_C(1) << 30)
		m->places *= 2;
	m->table = mem_zalloc(m->places, sizeof(*m->table));
	if (!m->table)
		return false;
	pthread_mutex_init(&m->lock, NULL);
	return true;
}

void marks_deinit(struct marks *m)
{
	if (m->table)
		pthread_mutex_destroy(&m->lock);
	mem_free(m->table);
	m->table = NULL;
}

/* The entry of a task, or the free one where it would be added. */
static struct dump_mark *marks_place_of(const struct marks *m, uint64_t task_id)
{
	uint32_t i = (uint32_t)hash_mix64(task_id) & (m->places - 1);

	for (;; i = (i + 1) & (m->places - 1)) {
		struct dump_mark *k = &m->table[i];

		if (atomic_load_explicit(&k->slots, memory_order_acquire) == 0 ||
			atomic_load_explicit(&k->task_id, memory_order_relaxed) == task_id)
			return k;
	}
}

bool marks_add(struct marks *m, uint64_t task_id, uint64_t slots)
{
	struct dump_mark *k;
	bool ok = true;

	pthread_mutex_lock(&m->lock);
	k = marks_place_of(m, task_id);
	if (atomic_load_explicit(&k->slots, memory_order_relaxed) == 0) {
		ok = m->n < m->most;
		m->n += ok;
		if (ok)
			atomic_store_explicit(&k->task_id, task_id, memory_order_relaxed);
	}
	if (ok)
		atomic_fetch_or_explicit(&k->slots, slots, memory_order_release);
	pthread_mutex_unlock(&m->lock);
	return ok;
}

uint64_t marks_of(const struct marks *m, uint64_t task_id)
{
	return atomic_load_explicit(&marks_place_of(m, task_id)->slots, memory_order_acquire);
}
