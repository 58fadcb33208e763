/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_camodel.c: the logs of one core of any bytes: starts, ends, icache, ccu, mte, cut at NUL. */
#include "fuzz_ascend.h"
#include "import/ascend/camodel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_ascend f;
	static const enum dump_log logs[] = {DUMP_STARTS, DUMP_ENDS, DUMP_ICACHE, DUMP_CCU};
	struct core_dump c = {.name = STR("core0.veccore0"), .unit = "core0.veccore0"};
	struct str rest, part;
	bool ok = true;

	fuzz_ascend_init(&f, data, size);
	f.build.is_ticks = true;
	c.b = &f.build;
	rest = f.bytes;
	for (size_t i = 0; i < 5 && ok; i++) {
		const char *cut = rest.n ? memchr(rest.p, 0, rest.n) : NULL;

		part = cut ? (struct str){rest.p, (size_t)(cut - rest.p)} : rest;
		rest = cut ? str_sub(rest, part.n + 1, rest.n) : rest;
		ok = i < 4 ? core_dump_add(&c, part, logs[i])
			   : asc_read_mte_log(&f.build, part, STR("core0"));
	}
	ok = ok && core_dump_join(&c);
	core_dump_deinit(&c);
	fuzz_ascend_end(&f, ok);
	return 0;
}
