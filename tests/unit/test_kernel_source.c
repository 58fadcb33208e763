/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernel_source.c: what of a C++ source counts, and which function is the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/record/cores.h"
#include "replay/source/classify.h"
#include "replay/source/signature.h"
#include "replay/source/source_text.h"

static const struct source_macro KNOWN[] = {
	{"__DAV_VEC__", true, 1}, {"__DAV_CUBE__", false, 0}, {"LEVEL", true, 3}};
static const struct source_macros MACROS = {.n = 3, .v = KNOWN};

static const struct {
	const char *source, *seen; /* the words that are left, joined */
} MASKS[] = {
	{"a // args[10]\nb", "a b"},
	{"a /* x\ny */ b", "a b"},
	{"a // x \\\ny\nb", "a b"},
	{"s = \"args[3] // no\"; b", "s=\"\";b"},
	{"c = '\\''; n = 1'000; d", "c='';n=1'000;d"},
	{"r = R\"x(a)\" // )x\"; b", "r=R\"\";b"},
	{"#if 0\na\n#else\nb\n#endif\nc", "b c"},
	{"#if 1\na\n#elif 1\nb\n#else\nc\n#endif", "a"},
	{"#ifdef __DAV_VEC__\na\n#else\nb\n#endif", "a"},
	{"#ifdef __DAV_CUBE__\na\n#endif\nb", "b"},
	{"#ifndef GUARD\n#define GUARD\na\n#endif", "a"},
	{"#ifdef UNKNOWN\na\n#else\nb\n#endif", "a b"},
	{"#if defined(UNKNOWN) && defined(__DAV_CUBE__)\na\n#endif\nb", "b"},
	{"#if defined(UNKNOWN) || defined __DAV_VEC__\na\n#else\nb\n#endif", "a"},
	{"#if !defined(__DAV_VEC__)\na\n#elif LEVEL >= 3 && (LEVEL < 4)\nb\n#endif", "b"},
	{"#if LEVEL == 2\n#if 1\na\n#endif\n#define D\n#endif\n#ifdef D\nb\n#endif", "b"},
	{"#define N 4\n#if N > 3\na\n#endif\n#undef N\n#ifdef N\nb\n#endif", "a"},
	{"#define F(x) \\\n  kernel_entry\na", "a"},
	{"#if FOO(3)\na\n#endif", "a"},
	{" #  if 0 // why\na\n#endif\nb", "b"},
	{"#if 0\n\"open\n'\n#endif\nb", "b"},
};

static void squeeze(struct str masked, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < masked.n; i++) {
		bool is_blank = masked.p[i] == ' ' || masked.p[i] == '\n';
		bool is_punct = n && strchr("=;\"'", out[n - 1]);

		if (!is_blank)
			out[n++] = masked.p[i];
		else if (n && !is_punct && out[n - 1] != ' ')
			out[n++] = ' ';
		if (n > 1 && strchr("=;\"'", out[n - 1]) && out[n - 2] == ' ') {
			out[n - 2] = out[n - 1];
			n--;
		}
	}
	while (n && out[n - 1] == ' ')
		n--;
	out[n] = '\0';
}

static void test_kernel_source_mask(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(MASKS) / sizeof(*MASKS); i++) {
		struct incore_error e = {0};
		struct strbuf b = {0};
		char got[256];

		assert_true(source_mask(str_of(MASKS[i].source), "k.cpp", &MACROS, &b, &e));
		assert_int_equal(b.n, strlen(MASKS[i].source));
		squeeze((struct str){b.p, b.n}, got);
		if (strcmp(got, MASKS[i].seen) != 0)
			fail_msg("%s: got [%s], want [%s]", MASKS[i].source, got, MASKS[i].seen);
		sb_free(&b);
	}
}

static void test_kernel_source_bad(void **state)
{
	static const char *const BAD[] = {"a\n#if 1\nb", "#endif", "#else",
		"#if 1\n#else\n#else\n#endif", "/* open", "#elif 1"};

	(void)state;
	for (size_t i = 0; i < sizeof(BAD) / sizeof(*BAD); i++) {
		struct incore_error e = {0};
		struct strbuf b = {0};

		assert_false(source_mask(str_of(BAD[i]), "k.cpp", NULL, &b, &e));
		assert_int_equal(e.status, INCORE_BAD_INPUT);
		assert_true(e.line >= 1);
		incore_error_clear(&e);
		sb_free(&b);
	}
}

static const struct {
	const char *source;
	enum kernel_form form;
	const char *name;
	unsigned n_params;
	const char *error;
} HEADS[] = {
	{"extern \"C\" __global__ AICORE void k(__gm__ bfloat16_t* v1, __gm__ half* v2, bool v3) { "
	 "}",
		KERNEL_PURE, "k", 3, NULL},
	{"AICORE void k(__gm__ float *a, int32_t n)\n{\n}", KERNEL_PURE, "k", 2, NULL},
	{"AICORE void k_aic(__gm__ float *a) { if (x) { y(); } }\nAICORE void k_aiv(__gm__ float "
	 "*a, "
	 "int32_t lane) {}",
		KERNEL_MIXED, "k", 1, NULL},
	{"static AICORE void aux(int x) {}\nAICORE void k(__gm__ float *a) {}", KERNEL_PURE, "k", 1,
		NULL},
	{"inline AICORE void aux(int x) {}\nAICORE inline int two() { return 2; }\n__global__ "
	 "AICORE "
	 "void k() {}",
		KERNEL_PURE, "k", 0, NULL},
	{"AICORE void aux(int x) {}\n__global__ __aicore__ void k(__gm__ const half* v2) {}",
		KERNEL_PURE, "k", 1, NULL},
	{"namespace a { struct S { void f() {} }; }\nextern \"C\" {\nAICORE void k(void);\nAICORE "
	 "void "
	 "k(__gm__ float *restrict a) { }\n}",
		KERNEL_PURE, "k", 1, NULL},
	{"extern \"C\" __aicore__ void kernel_entry(__gm__ int64_t* args) { run(args[0]); }",
		KERNEL_SLOTS, "kernel_entry", 1, NULL},
	{"template <int N> AICORE void t(int a) {}\nvoid host() {}", 0, NULL, 0, "no kernel"},
	{"AICORE void a() {}\nAICORE void b() {}", 0, NULL, 0, "several: a (line 1), b (line 2)"},
	{"AICORE void a(float *p) {}", 0, NULL, 0, "not __gm__"},
};

static void test_kernel_source_signature(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(HEADS) / sizeof(*HEADS); i++) {
		struct incore_error e = {0};
		struct kernel_signature s;
		struct strbuf b = {0};
		struct arena a;
		bool ok;

		arena_init(&a);
		assert_true(source_mask(str_of(HEADS[i].source), "k.cpp", NULL, &b, &e));
		ok = signature_read(&a, (struct str){b.p, b.n}, "k.cpp", &s, &e);
		if (HEADS[i].error) {
			assert_false(ok);
			assert_non_null(strstr(e.message, HEADS[i].error));
		} else {
			if (!ok)
				fail_msg("%s: %s", HEADS[i].source, e.message);
			assert_int_equal(s.form, HEADS[i].form);
			assert_string_equal(s.name, HEADS[i].name);
			assert_int_equal(s.main.n_params, HEADS[i].n_params);
		}
		incore_error_clear(&e);
		sb_free(&b);
		arena_deinit(&a);
	}
}

static void test_kernel_source_params(void **state)
{
	static const char TEXT[] = "__global__ AICORE void k(__gm__ const bfloat16_t* v1, "
				   "__gm__ pto::half *__restrict__, unsigned int v3, float) {}";
	struct kernel_signature s;
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_true(signature_read(&a, str_of(TEXT), "k.cpp", &s, NULL));
	assert_true(s.main.is_global);
	assert_string_equal(s.main.params[0].type, "bfloat16_t");
	assert_string_equal(s.main.params[0].name, "v1");
	assert_true(s.main.params[0].is_pointer);
	assert_string_equal(s.main.params[1].type, "pto::half");
	assert_string_equal(s.main.params[2].type, "unsigned int");
	assert_string_equal(s.main.params[2].name, "v3");
	assert_false(s.main.params[2].is_pointer);
	assert_string_equal(s.main.params[3].type, "float");
	arena_deinit(&a);
}

static const struct {
	const char *source, *path;
	enum kernel_core stated;
	enum kernel_class want;
} CLASSES[] = {
	{"f(args[0]);", "k/kernels/aiv/k.cpp", KERNEL_ON_AIV, KERNEL_AIV_ONLY},
	{"f(args[0]);", "kernels/aic/k.cpp", KERNEL_ON_ANY, KERNEL_AIC_ONLY},
	{"f(args[0]);", "kernels/mix/k.cpp", KERNEL_ON_AIC, KERNEL_SPMD_MIX},
	{"x = get_block_idx(args);", "kernels/aiv/k.cpp", KERNEL_ON_AIV, KERNEL_SPMD_MIX},
	{"x = get_block_idx ( args );", "k.cpp", KERNEL_ON_ANY, KERNEL_SPMD_MIX},
	{"x = get_block_idx();", "k.cpp", KERNEL_ON_AIC, KERNEL_AIC_ONLY},
	{"x = args[SPMD_LOCAL_CONTEXT_INDEX];", "k.cpp", KERNEL_ON_AIC, KERNEL_SPMD_MIX},
	{"x = args[ 49 ];", "k.cpp", KERNEL_ON_AIC, KERNEL_SPMD_MIX},
	{"x = args[4];", "k.cpp", KERNEL_ON_ANY, KERNEL_CLASS_UNKNOWN},
};

static void test_kernel_source_class(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(CLASSES) / sizeof(*CLASSES); i++) {
		struct core_answer a =
			cores_decide(&(struct core_evidence){.said = CLASSES[i].stated,
				.asks = kernel_asks(str_of(CLASSES[i].source)),
				.path = CLASSES[i].path});

		if (a.kernel_class != CLASSES[i].want || !a.reason)
			fail_msg("%s in %s: %s", CLASSES[i].source, CLASSES[i].path,
				kernel_class_name(a.kernel_class));
	}
}

static const struct {
	struct core_evidence v;
	enum kernel_core want;
	const char *reason;
} CORES[] = {
	{{.said = KERNEL_ON_AIV, .path = "kernels/mix/k.cpp"}, KERNEL_ON_AIV, "kernels/mix"},
	{{.path = "kernels/mix/k.cpp", .recorded = KERNEL_ON_AIC}, KERNEL_ON_MIX, "kernels/mix"},
	{{.path = "kernels/aiv/k.cpp", .recorded = KERNEL_ON_AIC}, KERNEL_ON_AIC, "stated as aic"},
	{{.path = "aic/kernels/aiv/k.cpp"}, KERNEL_ON_AIV, "kernels/aiv"}, /* the nearest folder */
	{{.path = "x/mix/aic/k.cpp"}, KERNEL_ON_AIC, "a folder named aic"},
	{{.path = "kernels/aic/k.cpp", .has_kinds = true, .has_vector = true}, KERNEL_ON_AIV,
		"functions"},
	{{.path = "k.cpp", .has_kinds = true, .has_cube = true, .has_vector = true}, KERNEL_ON_MIX,
		"functions"},
	{{.path = "k.cpp", .asks = "it asks"}, KERNEL_ON_MIX, "it asks"},
	{{.path = "aiv.cpp"}, KERNEL_ON_ANY, "nothing says"}, /* a file is no folder */
	{{.path = "k.cpp", .text = {"__DAV_VEC__", 11}}, KERNEL_ON_AIV, "macros"},
	{{.path = "k.cpp", .text = {"TMATMUL(", 8}}, KERNEL_ON_AIC, "ops of the cube"},
	{{.path = "k.cpp", .text = {"TADD(", 5}}, KERNEL_ON_AIV, "no op of the cube"},
};

static void test_kernel_source_cores(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(CORES) / sizeof(*CORES); i++) {
		struct core_answer a = cores_decide(&CORES[i].v);

		if (a.core != CORES[i].want || !strstr(a.reason, CORES[i].reason))
			fail_msg("%zu: %s, %s", i, kernel_core_name(a.core), a.reason);
	}
}

static void test_kernel_source_slots(void **state)
{
	static const char TEXT[] =
		"void kernel_entry(__gm__ int64_t *args) { // args[10]\n"
		"a(args[0]); b(args [ 7 ]); c(\"args[3]\"); d(args[n]); e(xargs[5]); }";
	struct strbuf b = {0};

	(void)state;
	assert_true(source_mask(str_of(TEXT), "k.cpp", NULL, &b, NULL));
	assert_int_equal(kernel_slots_read((struct str){b.p, b.n}), 1u | 1u << 7);
	assert_true(kernel_has_entry((struct str){b.p, b.n}));
	assert_false(kernel_has_entry(STR("kernel_entry(float *x)")));
	sb_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_source_mask),
		cmocka_unit_test(test_kernel_source_bad),
		cmocka_unit_test(test_kernel_source_signature),
		cmocka_unit_test(test_kernel_source_params),
		cmocka_unit_test(test_kernel_source_class),
		cmocka_unit_test(test_kernel_source_cores),
		cmocka_unit_test(test_kernel_source_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
