/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c: the memory of a ring. Touched at once, so that the recording thread has no page
 * faults. */
#include "dump/record/ring.h"

#include <sys/mman.h>

#include "base/mem.h"

bool ring_init(struct ring *r, size_t bytes)
{
	void *p;

	*r = (struct ring){.bytes = bytes};
	if (fault_hit(FAULT_ALLOC))
		return false;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return false;
	madvise(p, bytes, MADV_HUGEPAGE); /* only a hint */
	for (size_t i = 0; i < bytes; i += 4096)
		((volatile uint8_t *)p)[i] = 0;
	r->base = p;
	return true;
}

void ring_deinit(struct ring *r)
{
	if (r->base)
		munmap(r->base, r->bytes);
	r->base = NULL;
}
