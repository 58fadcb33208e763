/* SPDX-License-Identifier: Apache-2.0 */
/* Counters computed from counters: the language, its errors, and how samples become tensors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/counters/derived.h"

/* Two shader engines, two CUs on the first, four samples 64 cycles apart. */
static const uint64_t TIME0[] = {1000, 1064, 1128, 1192}, TIME1[] = {900, 964, 1028, 1092};
static const uint64_t BUSY00[] = {10, 20, 30, 40}, BUSY01[] = {1, 2, 3, 4}, BUSY1[] = {5, 6, 7, 8};
static const uint64_t LDS[] = {2, 4, 6, 8};
static const int64_t SAMPLES[][2] = {{1000, 100}, {3000, 200}};
static struct clock_domain clocks[] = {
	{.id = 0, .n_samples = 2, .samples = SAMPLES},
	{.id = 3, .offset_cyc = 100, .n_samples = 2, .samples = SAMPLES},
};
static struct counter_series series[] = {
	{.name = "SQ_BUSY_CU_CYCLES",
		.clock = 0,
		.cu = 0,
		.n = 4,
		.time_cyc = TIME0,
		.value = BUSY00},
	{.name = "SQ_BUSY_CU_CYCLES",
		.clock = 0,
		.cu = 1,
		.n = 4,
		.time_cyc = TIME0,
		.value = BUSY01},
	{.name = "SQ_BUSY_CU_CYCLES",
		.clock = 1,
		.cu = 0,
		.n = 4,
		.time_cyc = TIME1,
		.value = BUSY1},
	{.name = "SQ_ACTIVE_INST_LDS:1",
		.clock = 0,
		.cu = 0,
		.n = 4,
		.time_cyc = TIME0,
		.value = LDS},
};
static const struct trace TRACE = {
	.n_clocks = 2, .clocks = clocks, .n_counters = 4, .counters = series};

static struct derived *make(const char *text)
{
	struct incore_error e = {0};
	struct derived *d = derived_new(&TRACE, str_of(text), false, &e);

	assert_non_null(d);
	return d;
}

/* The value of the last definition, which must be one number. */
static double value(const char *text)
{
	struct derived *d = make(text);
	const struct derived_definition *x = &d->v[d->n - 1];
	double v;

	if (x->state != DERIVED_OK)
		fail_msg("%s: %s", text, x->message);
	for (unsigned a = 0; a < DERIVED_AXES; a++)
		assert_int_equal(x->value.dim[a], 1);
	v = x->value.v[0];
	derived_free(d);
	return v;
}

static void fails(const char *text, const char *code, const char *message, unsigned column)
{
	struct derived *d = make(text);
	const struct derived_definition *x = &d->v[d->n - 1];

	if (x->state != DERIVED_BAD)
		fail_msg("%s: has a value", text);
	if (strcmp(x->code, code) != 0 || !strstr(x->message, message) || x->error_column != column)
		fail_msg("%s: %s at %u: %s; expected %s at %u: %s", text, x->code, x->error_column,
			x->message, code, column, message);
	derived_free(d);
}

static void test_derived_arithmetic(void **state)
{
	(void)state;
	assert_true(value("a := 1 + 2 * 3") == 7);
	assert_true(value("a := (1 + 2) * 3") == 9);
	assert_true(value("a := -2 - -3") == 1);
	assert_true(value("a := 7 / 2 / 2") == 1.75);
	assert_true(value("a := 1E-6 * 2.5e6") == 2.5);
	assert_true(value("a := 1 < 2 & 2 <= 2 & 3 >= 4 | 5 == 5") == 1);
	assert_true(value("a := 2 > 3") == 0);
	assert_true(value("a := max(1, 5, 3) + min(4, 2)") == 7);
	assert_true(isinf(value("a := 1 / 0")));
	assert_true(isnan(value("a := 0 / 0")));
	assert_true(value("a := 2 # a comment := 3") == 2);
	assert_true(value("# nothing\n\nb := 4\na := b * b") == 16);
	assert_true(value("a := b + 1\nb := 2\nc := a") == 3);
	assert_true(value("a := b + 1;;b := 2; c := a") == 3);
}

static void test_derived_tensors(void **state)
{
	(void)state;
	assert_true(value("a := NUM_SE * 100 + NUM_CU * 10 + NUM_SAMPLES") == 224);
	assert_true(value("a := sum[BUSY_CU_CYCLES]") == 136);
	assert_true(value("a := sum[SQ_BUSY_CU_CYCLES]") == 136);
	assert_true(value("a := max[sum[BUSY_CU_CYCLES, axis=[XCC,SE,CU]]]") == 52);
	assert_true(value("a := mean[BUSY_CU_CYCLES]") == 8.5); /* the CU that is not there is 0 */
	assert_true(value("a := min[max[BUSY_CU_CYCLES, axis=[SE, CU]], axis=TIME]") == 10);
	assert_true(value("a := sum[ACTIVE_INST_LDS:1]") == 20);
	assert_true(value("a := select[sum[BUSY_CU_CYCLES, axis=[1,2]], -1]") == 52);
	assert_true(value("a := sum[select[sum[BUSY_CU_CYCLES, axis=[SE,CU]], 1:4:2]]") == 28 + 52);
	assert_true(value("n := 2\na := sum[select[sum[BUSY_CU_CYCLES, axis=[SE,CU]], "
			  "n:NUM_SAMPLES]]") == 92);
	assert_true(value("a := sum[remove[sum[BUSY_CU_CYCLES, axis=[SE,CU]], 0]]") == 120);
	assert_true(value("a := min[delta[SCLOCK, axis=TIME]]") == 64);
	assert_true(value("a := sum[(linear(4))]") == 6);
	assert_true(value("a := sum[(BUSY_CU_CYCLES + 1)]") == 152);
	assert_true(
		value("d := select[RCLOCK, -1, axis=TIME] - select[RCLOCK, 0, axis=TIME]\n"
		      "a := mean[(1E8 * select[d, 0, axis=CU] / select[d, 1, axis=CU])]") == 2e9);
}

static void test_derived_errors(void **state)
{
	(void)state;
	fails("a := 1 +", "syntax", "found the end", 9);
	fails("a := 1 $ 2", "syntax", "found '$'", 8);
	fails("a := (1 + 2", "syntax", "expected ')'", 12);
	fails("a", "syntax", "name := expression", 1);
	fails("1a := 2", "syntax", "a name has", 1);
	fails("a := NOTHING * 2", "missing", "NOTHING", 6);
	fails("a := sum[BUSY_CU_CYCLES + 1]", "syntax", "expected ']'", 25);
	fails("a := sum[BUSY_CU_CYCLES, axis=Z]", "syntax", "an axis", 31);
	fails("a := select[BUSY_CU_CYCLES, 9]", "shape", "index 9 of 4 along TIME", 27);
	fails("a := select[SCLOCK, 0:3] + SCLOCK", "shape", "3 and 4 entries along TIME", 26);
	fails("a := a", "cycle", "a is defined by itself", 6);
	fails("a := b\nb := c + 1\nc := a", "cycle", "", 6);
	fails("x := NOTHING\na := 1 + x", "missing", "x has no value", 10);
}

static void test_derived_spoils_only_what_needs_it(void **state)
{
	struct incore_error e = {0};
	struct derived *d =
		derived_new(&TRACE, STR("good := sum[BUSY_CU_CYCLES]\nbad := NOPE\n"), true, &e);
	uint32_t good = 0, lds = 0, rates = 0;

	(void)state;
	assert_non_null(d);
	for (uint32_t i = 0; i < d->n; i++) {
		const struct derived_definition *x = &d->v[i];

		good += str_is(x->name, "good") && x->state == DERIVED_OK && !x->is_default;
		lds += str_is(x->name, "LDS_util") && x->state == DERIVED_BAD && x->is_default;
		rates +=
			str_is(x->name, "_delta_seconds") && x->state == DERIVED_OK && x->is_hidden;
	}
	assert_int_equal(good, 1);
	assert_int_equal(lds, 1);
	assert_int_equal(rates, 1);
	derived_free(d);
}

static void test_derived_limits(void **state)
{
	struct strbuf b = {0};
	struct derived *d;

	(void)state;
	sb_puts(&b, "a := ");
	for (int i = 0; i < 500; i++)
		sb_putc(&b, '(');
	sb_putc(&b, '\0');
	fails(b.p, "syntax", "nested more than", 38);
	sb_free(&b);
	fails("a := linear(1e9)", "size", "1 to 16384", 13);
	fails("a := linear(16000) * linear(16000, axis=SE)", "size", "more than", 20);
	d = make("");
	assert_int_equal(d->n, 0);
	derived_free(d);
}

static void test_derived_without_counters(void **state)
{
	static const struct trace none = {0};
	struct incore_error e = {0};
	struct derived *d = derived_new(&none, STR("a := NUM_SAMPLES\nb := SCLOCK"), true, &e);

	(void)state;
	assert_non_null(d);
	assert_int_equal(d->v[d->n - 2].state, DERIVED_OK);
	assert_int_equal(d->v[d->n - 1].state, DERIVED_BAD);
	derived_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_derived_arithmetic),
		cmocka_unit_test(test_derived_tensors),
		cmocka_unit_test(test_derived_errors),
		cmocka_unit_test(test_derived_spoils_only_what_needs_it),
		cmocka_unit_test(test_derived_limits),
		cmocka_unit_test(test_derived_without_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
