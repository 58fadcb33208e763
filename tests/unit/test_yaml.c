/* SPDX-License-Identifier: Apache-2.0 */
/* test_yaml.c: the YAML tree, its places and its limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codec/yaml.h"

static bool parse(struct arena *a, const char *text, struct yaml_node **out, struct incore_error *e)
{
	return yaml_parse(a, str_of(text), "p.yaml", out, e);
}

static void test_yaml_tree(void **state)
{
	struct arena a;
	struct yaml_node *root = NULL;
	const struct yaml_node *k;

	(void)state;
	arena_init(&a);
	assert_true(
		parse(&a, "a: {value: 64, unit: B/cyc}\nlist:\n  - 1\n  - 'two'\n", &root, NULL));
	assert_int_equal(root->kind, YAML_MAP);
	assert_int_equal(root->n, 2);
	k = yaml_get(yaml_get(root, "a"), "value");
	assert_non_null(k);
	assert_string_equal(k->text.p, "64");
	assert_int_equal(k->line, 1);
	assert_int_equal(k->column, 12);
	k = yaml_get(root, "list");
	assert_int_equal(k->kind, YAML_LIST);
	assert_int_equal(k->n, 2);
	assert_false(k->first->is_quoted);
	assert_true(k->first->next->is_quoted);
	assert_int_equal(k->first->next->line, 4);
	assert_null(yaml_get(root, "b"));
	assert_null(yaml_get(k, "b"));
	assert_true(parse(&a, "", &root, NULL));
	assert_int_equal(root->n, 0);
	arena_deinit(&a);
}

static void test_yaml_refused(void **state)
{
	static const struct {
		const char *text;
		uint32_t line;
	} cases[] = {
		{"a: 1\na: 2\n", 2},
		{"a: &x 1\n", 1},
		{"a: 1\nb: *x\n", 2},
		{"? [1]\n: 2\n", 1},
		{"a: 1\n---\nb: 2\n", 2},
		{"a: [1\n", 2},
		{"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct incore_error e = {0};
		struct yaml_node *root = NULL;
		struct arena a;

		arena_init(&a);
		assert_false(parse(&a, cases[i].text, &root, &e));
		assert_int_equal(e.status, INCORE_BAD_INPUT);
		assert_string_equal(e.path, "p.yaml");
		assert_int_equal(e.line, cases[i].line);
		incore_error_clear(&e);
		arena_deinit(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_yaml_tree),
		cmocka_unit_test(test_yaml_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
