/* SPDX-License-Identifier: Apache-2.0 */
/* dwarf_none.c: a build without libdw. No address has a source, and `problem` states the reason. */
#include "codec/dwarf.h"

bool dwarf_is_built(void)
{
	return false;
}

bool dwarf_lookup(struct dwarf_lines *out, struct str bytes, const uint64_t *addresses, uint32_t n,
	struct arena *a, struct incore_error *e)
{
	(void)bytes;
	(void)addresses;
	*out = (struct dwarf_lines){.n_chains = n, .problem = "incore was built without libdw"};
	out->chains = arena_zalloc(a, (size_t)n + 1, sizeof(*out->chains));
	return out->chains || err_nomem(e);
}
