/* SPDX-License-Identifier: Apache-2.0 */
/* Are source lines and inline chains found, and does damaged debug info cost only them? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "codec/dwarf.h"
#include "codec/elf.h"

/* data/inlined.cl: helper() in outer() in the kernel */
static char *sample_path(void)
{
	static char path[4096];
	const char *root = getenv("INCORE_SOURCE_ROOT");

	snprintf(path, sizeof(path), "%s/tests/unit/data/inlined_gfx942.elf", root ? root : ".");
	return path;
}

static void skip_without_libdw(void)
{
	if (!dwarf_is_built()) {
		print_message("built without libdw\n");
		skip();
	}
}

static void test_dwarf_chain(void **state)
{
	static const uint64_t addresses[] = {0x1600, 0x1638, 0x1644, 0x1, 0x9999};
	static const uint32_t lines[2][3] = {{5, 8, 13}, {8, 13, 0}};
	struct file_data f = {0};
	struct dwarf_lines d;
	struct elf_image x;
	struct arena a;
	struct str bytes;

	(void)state;
	skip_without_libdw();
	arena_init(&a);
	assert_true(file_load(&f, sample_path(), NULL));
	bytes = (struct str){(const char *)f.data, f.size};
	assert_true(elf_open(&x, bytes, "k.out", &a, NULL));
	assert_true(dwarf_is_there(&x));
	assert_true(dwarf_lookup(&d, bytes, addresses, 5, &a, NULL));
	assert_null(d.problem);
	assert_int_equal(d.chains[0].n, 1);
	assert_int_equal(d.frames[d.chains[0].first].line, 11);
	assert_string_equal(d.files[d.frames[0].file], "/src/inlined.cl");
	for (unsigned i = 0; i < 2; i++) {
		const struct dwarf_chain *c = &d.chains[i + 1];

		assert_int_equal(c->n, 3 - i);
		for (unsigned k = 0; k < c->n; k++)
			assert_int_equal(d.frames[c->first + k].line, lines[i][k]);
	}
	assert_int_equal(d.chains[3].n, 0);
	assert_int_equal(d.chains[4].n, 0);
	file_unload(&f);
	arena_deinit(&a);
}

static void test_dwarf_damage_is_survived(void **state)
{
	static const uint64_t addresses[] = {0x1600, 0x1638};
	struct file_data f = {0};
	struct arena a;
	char *copy;

	(void)state;
	skip_without_libdw();
	arena_init(&a);
	assert_true(file_load(&f, sample_path(), NULL));
	copy = test_malloc(f.size);
	for (unsigned seed = 1; seed < 60; seed++) {
		struct dwarf_lines d;
		uint32_t r = seed;

		memcpy(copy, f.data, f.size);
		for (unsigned k = 0; k < 40; k++) {
			r = r * 1103515245u + 12345;
			copy[(r >> 8) % f.size] ^= (char)(r >> 3 | 1);
		}
		assert_true(dwarf_lookup(&d, (struct str){copy, f.size}, addresses, 2, &a, NULL));
	}
	test_free(copy);
	file_unload(&f);
	arena_deinit(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dwarf_chain),
		cmocka_unit_test(test_dwarf_damage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
