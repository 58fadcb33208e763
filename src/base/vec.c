/* SPDX-License-Identifier: Apache-2.0 */
/* vec.c: growth of arrays, overflow checked. */
#include "base/vec.h"

#include <stdint.h>
#include <string.h>

bool vec_grow(void **data, size_t *cap, size_t need, size_t elem_size)
{
	size_t room = *cap < 8 ? 8 : *cap;
	void *p;

	if (need <= *cap)
		return true;
	if (elem_size && need > PTRDIFF_MAX / elem_size)
		return false;
	while (room < need)
		room = room > SIZE_MAX / 2 ? need : room * 2;
	p = mem_resize(*data, room, elem_size);
	if (!p)
		return false;
	*data = p;
	*cap = room;
	return true;
}
