/* SPDX-License-Identifier: Apache-2.0 */
/* Are code objects read, odd ones too, and is every kind of damage an error with its place? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/demangle.h"
#include "codec/elf.h"
#include "tiny_elf.h"

static const uint8_t code[32];
static const struct tiny_symbol symbols[] = {
	{"second", 0x1010, 0},	       /* no size: up to the end of the section */
	{"_Z5firstPfi", 0x1000, 0x40}, /* too large: up to the next */
	{"alias", 0x1000, 4},
	{"outside", 0x9000, 4},
};
static const struct tiny_elf sample = {.flags = 0x54f,
	.machine = 224,
	.address = 0x1000,
	.code = code,
	.code_bytes = sizeof(code),
	.symbols = symbols,
	.n_symbols = 4};

struct fixture {
	struct strbuf bytes;
	struct arena arena;
	struct elf_image image;
	struct incore_error error;
};

static void set_up(struct fixture *f, const struct tiny_elf *t)
{
	*f = (struct fixture){0};
	arena_init(&f->arena);
	tiny_elf_make(t, &f->bytes);
}

static bool open_first(struct fixture *f, size_t n)
{
	return elf_open(&f->image, (struct str){f->bytes.p, n}, "k.out", &f->arena, &f->error);
}

static void tear_down(struct fixture *f)
{
	incore_error_clear(&f->error);
	arena_deinit(&f->arena);
	sb_free(&f->bytes);
}

static void test_elf_functions_are_clipped(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, &sample);
	assert_true(open_first(&f, f.bytes.n));
	assert_int_equal(f.image.flags, 0x54f);
	assert_int_equal(f.image.n_functions, 2);
	assert_string_equal(f.image.functions[0].name, "_Z5firstPfi");
	assert_string_equal(f.image.functions[0].demangled, "first(float*, int)");
	assert_int_equal(f.image.functions[0].size, 0x10);
	assert_string_equal(f.image.functions[1].name, "second");
	assert_string_equal(f.image.functions[1].demangled, "");
	assert_int_equal(f.image.functions[1].size, 0x10);
	assert_ptr_equal(elf_function_at(&f.image, 0x100c), &f.image.functions[0]);
	assert_ptr_equal(elf_function_at(&f.image, 0x1010), &f.image.functions[1]);
	assert_null(elf_function_at(&f.image, 0xfff));
	assert_null(elf_function_at(&f.image, 0x1020));
	assert_null(elf_code_at(&f.image, 0x1020));
	assert_string_equal(elf_code_at(&f.image, 0x1000)->name, ".text");
	tear_down(&f);
}

static void test_elf_cut_anywhere_is_an_error(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, &sample);
	for (size_t n = 0; n < f.bytes.n; n++) {
		assert_false(open_first(&f, n));
		assert_non_null(f.error.code);
	}
	assert_string_equal(f.error.code, "truncated");
	tear_down(&f);
}

static void test_elf_other_machines_are_refused(void **state)
{
	struct tiny_elf t = sample;
	struct fixture f;

	(void)state;
	t.machine = 62;
	set_up(&f, &t);
	assert_false(open_first(&f, f.bytes.n));
	assert_string_equal(f.error.code, "wrong-machine");
	assert_int_equal(f.error.offset, 18);
	tear_down(&f);
	t.machine = 224;
	set_up(&f, &t);
	f.bytes.p[0] = 'X';
	assert_false(open_first(&f, f.bytes.n));
	assert_string_equal(f.error.code, "bad-magic");
	tear_down(&f);
}

/* Zeros for encoding, type, machine and entry size, as some runtimes write. */
static void test_elf_minimal_image(void **state)
{
	struct tiny_elf t = sample;
	struct fixture f;

	(void)state;
	t.machine = 0;
	t.flags = 0;
	t.n_symbols = 0;
	set_up(&f, &t);
	f.bytes.p[5] = 0;
	memset(f.bytes.p + 58, 0, 2);
	assert_true(open_first(&f, f.bytes.n));
	assert_int_equal(f.image.n_functions, 0);
	assert_non_null(elf_code_at(&f.image, 0x1000));
	assert_null(elf_note(&f.image, "AMDGPU", 32).p);
	tear_down(&f);
}

static void test_elf_flipped_bits(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, &sample);
	for (size_t i = 0; i < f.bytes.n * 8; i++) { /* sanitizers judge */
		f.bytes.p[i / 8] ^= (char)(1 << i % 8);
		if (open_first(&f, f.bytes.n))
			elf_function_at(&f.image, 0x1000);
		f.bytes.p[i / 8] ^= (char)(1 << i % 8);
	}
	tear_down(&f);
}

static void test_elf_demangle_is_limited(void **state)
{
	struct arena a;
	char name[4001];

	(void)state;
	arena_init(&a);
	memset(name, 'P', sizeof(name) - 1);
	name[4000] = 0;
	memcpy(name, "_Z1f", 4);
	assert_string_equal(demangle(name, &a), "");
	name[600] = 0; /* short enough, but nested too deep */
	assert_string_equal(demangle(name, &a), "");
	assert_string_equal(demangle("_Z1fv", &a), "f()");
	assert_string_equal(demangle("main", &a), "");
	assert_string_equal(demangle("_Znonsense", &a), "");
	arena_deinit(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_elf_functions_are_clipped),
		cmocka_unit_test(test_elf_cut_anywhere_is_an_error),
		cmocka_unit_test(test_elf_other_machines_are_refused),
		cmocka_unit_test(test_elf_minimal_image),
		cmocka_unit_test(test_elf_flipped_bits),
		cmocka_unit_test(test_elf_demangle_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
