/* SPDX-License-Identifier: Apache-2.0 */
/* What takes the place of libdw where it is missing (codec/dwarf_none.c, linked here in any build): says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codec/dwarf.h"
#include "trace/notes.h"

static void test_dwarf_none_says_why(void **state)
{
	static const uint64_t addresses[] = {0x1600, 0x1638};
	struct dwarf_lines d;
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_false(dwarf_is_built());
	assert_true(dwarf_lookup(&d, STR("\177ELF"), addresses, 2, &a, NULL));
	assert_string_equal(d.problem, "incore was built without libdw");
	assert_int_equal(note_row("no-libdw")->kind, NOTE_MISSING); /* what readers note then */
	assert_int_equal(d.n_chains, 2);
	assert_int_equal(d.chains[0].n + d.chains[1].n, 0);
	arena_deinit(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dwarf_none_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
