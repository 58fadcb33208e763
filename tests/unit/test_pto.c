/* SPDX-License-Identifier: Apache-2.0 */
/* test_pto.c: parameters, kinds and reach of views, folded from MLIR text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "replay/source/pto.h"

struct case_pto {
	const char *what, *params, *body;
	uint64_t elements; /* of parameter 0 */
	const char *error; /* part of the message, or NULL: it reads */
};

#define VIEW(shape, strides)                                                                       \
	"  %v = pto.make_tensor_view %arg0, shape = [" shape "], strides = [" strides "]"          \
	" {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xbf16> loc(\"k.py\":3:1)\n"
#define C(name, value) "  %" name " = arith.constant " value " : index\n"

static const struct case_pto CASES[] = {
	{"strided", "",
		C("a", "4") C("b", "100") C("s", "128") C("o", "1") VIEW("%a, %b", "%s, %o"), 484,
		NULL},
	{"name says 7, value is 32", "", C("c7", "32") C("o", "1") VIEW("%c7, %c7", "%c7, %o"),
		1024, NULL},
	{"parameter as dimension", ", %n: index", C("o", "1") VIEW("%n", "%o"), 256, NULL},
	{"16 x 8192", "", C("a", "16") C("b", "8192") C("o", "1") VIEW("%a, %b", "%b, %o"), 131072,
		NULL},
	{"8192 x 8192", "", C("b", "8192") C("o", "1") VIEW("%b, %b", "%b, %o"), 67108864, NULL},
	{"block number", "",
		"  %g = pto.get_block_num : i64\n  %c64_i64 = arith.constant 64 : i64\n"
		"  %m = arith.muli %g, %c64_i64 : i64\n  %r = arith.index_cast %m : i64 to "
		"index\n" C("b", "64") C("o", "1") VIEW("%r, %b", "%b, %o"),
		4096, NULL},
	{"two views", "",
		C("a", "4") C("b", "100") C("s", "128") C("o", "1") VIEW("%a, %b", "%s, %o")
			VIEW("%a, %a", "%s, %o"),
		484, NULL},
	{"no strides", "",
		C("a", "4")
			C("b", "6") "  %v = pto.make_tensor_view %arg0, shape = [%a, %b] : !x<f>\n",
		24, NULL},
	{"rank mismatch", "", C("a", "4") C("b", "6") VIEW("%a, %b", "%a"), 24, NULL},
	{"empty", "", C("a", "0") C("b", "6") VIEW("%a, %b", "%b, %a"), 0, NULL},
	{"several lines and comments", "",
		C("a", "4") "  %v = pto.make_tensor_view %arg0, // %x = y\n    shape = [%a,\n  "
			    "%a],\n"
			    "    strides = [%a, %a]\n  : !pto.tensor_view<?x?xf32>\n",
		25, NULL},
	{"loop variable", "",
		C("z", "0") C("t", "10") C("s", "3")
			C("o", "1") "  scf.for %i = %z to %t step %s {\n    %q = arith.addi %i, %o "
				    ": index\n" VIEW("%q", "%o") "  }\n",
		10, NULL},
	{"select takes the larger arm", ", %n: i1",
		C("a", "4") C("b", "9")
			C("o", "1") "  %w = arith.select %n, %a, %b : index\n" VIEW("%w", "%o"),
		9, NULL},
	{"pointer moved", "",
		C("a", "8") C("o", "1") "  %p = pto.addptr %arg0, %a : !pto.ptr<bf16>\n"
					"  %v = pto.make_tensor_view %p, shape = [%a], strides = "
					"[%o] : !x<f>\n",
		16, NULL},
	{"loaded from memory", "",
		"  %l = pto.load_scalar %arg0[%c0] : i32\n  %x = arith.extsi %l : i32 to i64\n" C(
			"o", "1") VIEW("%x", "%o"),
		0, "%x (line 5: arith.extsi of %l (line 4: pto.load_scalar"},
	{"float constant", "", "  %f = arith.constant 4.0 : f32\n" C("o", "1") VIEW("%f", "%o"), 0,
		"has no bound"},
	{"negative", "", C("a", "-4") C("o", "1") VIEW("%a", "%o"), 0, "negative dimension"},
	{"overflow", "", C("a", "4611686018427387904") VIEW("%a, %a", "%a, %a"), 0,
		"more than 2^63"},
	{"not a parameter", "",
		C("a", "4") "  %v = pto.make_tensor_view %q, shape = [%a], strides = [%a] : "
			    "!x<f>\n",
		0, "the pointer of a tensor view"},
	{"rank 9", "", C("a", "1") VIEW("%a,%a,%a,%a,%a,%a,%a,%a,%a", "%a"), 0, "more than 8"},
};

static void read_case(const struct case_pto *c, const struct pto_launch *launch, struct arena *a,
	struct pto_module *m, struct incore_error *e)
{
	char text[4096];
	bool ok;

	snprintf(text, sizeof(text),
		"module attributes {pto.target_arch = \"a5\"} {\nfunc.func @k(%%arg0: "
		"!pto.ptr<bf16>%s) "
		"attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n  %%zero = "
		"arith.constant 0 : "
		"i32\n%s  return\n}\n}\n",
		c->params, c->body);
	ok = pto_read(a, str_of(text), "k.pto", launch, m, e);
	if (ok != !c->error || (c->error && !strstr(e->message, c->error)))
		fail_msg("%s: %s, want %s", c->what, ok ? "read" : e->message,
			c->error ? c->error : "no error");
}

static void test_pto_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
		struct incore_error e = {0};
		struct pto_module m;
		struct arena a;

		arena_init(&a);
		read_case(&CASES[i], NULL, &a, &m, &e);
		if (!CASES[i].error) {
			if (m.funcs[0].params[0].elements != CASES[i].elements)
				fail_msg("%s: got %llu, want %llu", CASES[i].what,
					(unsigned long long)m.funcs[0].params[0].elements,
					(unsigned long long)CASES[i].elements);
			assert_string_equal(m.target, "a5");
			assert_int_equal(m.funcs[0].kind, PTO_KIND_VECTOR);
			assert_int_equal(m.funcs[0].params[0].elem_bits, 16);
			assert_true(m.funcs[0].params[0].is_pointer);
		} else {
			assert_int_equal(e.status, INCORE_BAD_INPUT);
		}
		incore_error_clear(&e);
		arena_deinit(&a);
	}
}

static bool forty(void *ctx, uint32_t param, int64_t *value)
{
	(void)ctx;
	*value = 40;
	return param == 1;
}

static void test_pto_launch(void **state)
{
	struct incore_error e = {0};
	struct pto_module m;
	struct arena a;

	(void)state;
	arena_init(&a);
	read_case(&CASES[2], &(struct pto_launch){.dynamic_dim = 100}, &a, &m, &e);
	assert_int_equal(m.funcs[0].params[0].elements, 100);
	assert_true(m.funcs[0].params[1].is_bound);
	read_case(&CASES[2], &(struct pto_launch){.scalar = forty}, &a, &m, &e);
	assert_int_equal(m.funcs[0].params[0].elements, 40);
	assert_false(m.funcs[0].params[1].is_bound);
	read_case(&CASES[5], &(struct pto_launch){.n_blocks = 24}, &a, &m, &e);
	assert_int_equal(m.funcs[0].params[0].elements, 24 * 64 * 64);
	arena_deinit(&a);
}

/* SSA names belong to their function; a declaration has no body. */
static void test_pto_two_functions(void **state)
{
	static const char TEXT[] =
		"module {\nfunc.func private @other(i32)\n"
		"func.func @k_aic(%gm_a: !pto.ptr<f32>, %arg1: index) attributes {pto.kernel_kind "
		"= "
		"#pto.kernel_kind<cube>} {\n  %0 = arith.constant 8 : index\n  %v = "
		"pto.make_tensor_view "
		"%gm_a, shape = [%0], strides = [%0] : !t<f>\n  return\n}\n"
		"func.func @k_aiv(%gm_a: !pto.ptr<f32>) {\n  %0 = arith.constant 2 : index\n  %v = "
		"pto.make_tensor_view %gm_a, shape = [%0], strides = [%0] : !t<f>\n  "
		"return\n}\n}\n";
	struct incore_error e = {0};
	struct pto_module m;
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_true(pto_read(&a, str_of(TEXT), "k.pto", NULL, &m, &e));
	assert_null(m.target);
	assert_int_equal(m.n_funcs, 2);
	assert_int_equal(m.funcs[0].params[0].elements, 57);
	assert_int_equal(m.funcs[1].params[0].elements, 3);
	assert_int_equal(m.funcs[0].kind, PTO_KIND_CUBE);
	assert_int_equal(m.funcs[1].kind, PTO_KIND_UNSTATED);
	assert_string_equal(m.funcs[0].params[1].type, "index");
	assert_false(pto_read(&a, STR("module {}"), "k.pto", NULL, &m, &e));
	assert_non_null(strstr(e.message, "no func.func"));
	assert_false(pto_read(&a, STR("func.func @k(%a: i32) {"), "k.pto", NULL, &m, &e));
	assert_non_null(strstr(e.message, "has no end"));
	incore_error_clear(&e);
	arena_deinit(&a);
}

static int64_t apply(const char *op, int64_t a, int64_t b, bool *is_defined)
{
	*is_defined = !strstr(op, "div") && !strstr(op, "rem") ? true : b != 0;
	if (!*is_defined)
		return 0;
	if (strstr(op, "muli"))
		return a * b;
	if (strstr(op, "addi"))
		return a + b;
	if (strstr(op, "subi"))
		return a - b;
	if (strstr(op, "ceildiv"))
		return a / b + (a % b != 0 && (a < 0) == (b < 0));
	if (strstr(op, "floordiv"))
		return a / b - (a % b != 0 && (a < 0) != (b < 0));
	if (strstr(op, "divsi"))
		return a / b;
	if (strstr(op, "remsi"))
		return a % b;
	if (strstr(op, "minsi"))
		return a < b ? a : b;
	return a > b ? a : b;
}

/* Every value of every small range stays inside what the fold says, and one value is exact. */
static void test_pto_fold_exhaustive(void **state)
{
	static const char *const OPS[] = {"arith.muli", "arith.addi", "arith.subi",
		"arith.ceildivsi", "arith.floordivsi", "arith.divsi", "arith.remsi", "arith.minsi",
		"arith.maxsi"};

	(void)state;
	for (size_t o = 0; o < sizeof(OPS) / sizeof(*OPS); o++)
		for (int64_t al = -4; al <= 4; al++)
			for (int64_t ah = al; ah <= 4; ah++)
				for (int64_t bl = -4; bl <= 4; bl++)
					for (int64_t bh = bl; bh <= 4; bh++) {
						struct pto_range r;
						bool has = pto_fold(str_of(OPS[o]),
							(struct pto_range){al, ah},
							(struct pto_range){bl, bh}, &r);

						for (int64_t a = al; a <= ah; a++)
							for (int64_t b = bl; b <= bh; b++) {
								bool is_defined;
								int64_t v = apply(
									OPS[o], a, b, &is_defined);

								if (!is_defined)
									continue;
								if (!has || v < r.lo || v > r.hi ||
									(al == ah && bl == bh &&
										r.lo != r.hi))
									fail_msg("%s [%d,%d] "
										 "[%d,%d]: %d "
										 "outside [%d,%d]",
										OPS[o], (int)al,
										(int)ah, (int)bl,
										(int)bh, (int)v,
										(int)r.lo,
										(int)r.hi);
							}
					}
}

static void test_pto_fold_bits(void **state)
{
	struct pto_range r;

	(void)state;
	assert_true(pto_fold(
		STR("arith.shli"), (struct pto_range){3, 3}, (struct pto_range){0, 4}, &r));
	assert_true(r.lo == 3 && r.hi == 48);
	assert_true(pto_fold(
		STR("arith.shrsi"), (struct pto_range){-9, 17}, (struct pto_range){1, 1}, &r));
	assert_true(r.lo == -5 && r.hi == 8);
	assert_true(pto_fold(
		STR("arith.andi"), (struct pto_range){0, 100}, (struct pto_range){15, 15}, &r));
	assert_true(r.lo == 0 && r.hi == 15);
	assert_true(
		pto_fold(STR("arith.ori"), (struct pto_range){0, 9}, (struct pto_range){0, 4}, &r));
	assert_true(r.hi == 15);
	assert_false(pto_fold(
		STR("arith.shli"), (struct pto_range){1, 1}, (struct pto_range){63, 63}, &r));
	assert_false(pto_fold(
		STR("arith.shli"), (struct pto_range){1, 1}, (struct pto_range){64, 64}, &r));
	assert_false(pto_fold(
		STR("arith.divui"), (struct pto_range){-1, 1}, (struct pto_range){2, 2}, &r));
	r = pto_wrap((struct pto_range){0x1ffffffff, 0x1ffffffff}, 32);
	assert_true(r.lo == -1 && r.hi == -1);
	r = pto_wrap((struct pto_range){0, 1000}, 8);
	assert_true(r.lo == -128 && r.hi == 127);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pto_cases),
		cmocka_unit_test(test_pto_launch),
		cmocka_unit_test(test_pto_two_functions),
		cmocka_unit_test(test_pto_fold_exhaustive),
		cmocka_unit_test(test_pto_fold_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
