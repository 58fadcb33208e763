/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.c: the static instruction table (code.json), and the row of a wave record's line: numbers
 * are dense in practice, so a table is used; if not, binary search. Label rows are excluded: a
 * record that names one has an unknown pc.
 */
#include "base/search.h"
#include "import/code_json.h"
#include "import/ui_output/ui_output.h"
#include "isa/amd.h"

bool ui_code_parse(struct ui_build *b, struct ui_bytes in, struct incore_error *e)
{
	struct code_json facts;
	bool ok = code_json_read(b->trace, (struct str){in.p, in.n}, in.path, &facts, e);

	b->rows.has_samples = facts.has_samples;
	b->trace->meta.code_key = facts.hash;
	return ok;
}

struct index_pair {
	int64_t number;
	code_idx row;
};

ORDER(compare_pairs, struct index_pair, UP(number) UP(row))

static bool build_dense(struct trace *t, struct ui_code_index *x, uint64_t size, uint64_t *n_dup)
{
	uint32_t *table = arena_zalloc(&t->arena, size + 1, sizeof(*table));

	if (!table)
		return false;
	for (uint64_t i = 0; i < size; i++)
		table[i] = t->n_code;
	for (uint32_t i = 0; i < t->n_code; i++) {
		uint32_t *slot = &table[t->code[i].number];

		if (t->code[i].is_label)
			continue;
		if (*slot == t->n_code)
			*slot = i; /* if a number occurs several times, the first row counts */
		else
			(*n_dup)++;
	}
	x->by_number = table;
	x->n_by_number = size;
	return true;
}

static bool build_sorted(struct trace *t, struct ui_code_index *x, uint64_t *n_dup)
{
	struct index_pair *pairs = mem_zalloc((size_t)t->n_code + 1, sizeof(*pairs));
	int64_t *numbers = arena_zalloc(&t->arena, (size_t)t->n_code + 1, sizeof(*numbers));
	code_idx *rows = arena_zalloc(&t->arena, (size_t)t->n_code + 1, sizeof(*rows));
	uint32_t n = 0, kept = 0;

	if (!pairs || !numbers || !rows) {
		mem_free(pairs);
		return false;
	}
	for (uint32_t i = 0; i < t->n_code; i++)
		if (!t->code[i].is_label)
			pairs[n++] = (struct index_pair){t->code[i].number, i};
	SORT(pairs, n, compare_pairs);
	for (uint32_t i = 0; i < n; i++) {
		if (kept && numbers[kept - 1] == pairs[i].number) {
			(*n_dup)++;
			continue;
		}
		numbers[kept] = pairs[i].number;
		rows[kept++] = pairs[i].row;
	}
	mem_free(pairs);
	x->numbers = numbers;
	x->rows = rows;
	x->n_sorted = kept;
	return true;
}

bool ui_code_index_build(struct trace *t, struct ui_code_index *x, uint64_t *n_duplicates)
{
	int64_t max = -1;

	*x = (struct ui_code_index){.n_code = t->n_code};
	*n_duplicates = 0;
	for (uint32_t i = 0; i < t->n_code; i++)
		if (t->code[i].number > max)
			max = t->code[i].number;
	if (max < (int64_t)t->n_code * 4 + 1024) {
		if (!build_dense(t, x, (uint64_t)(max + 1), n_duplicates))
			return false;
	} else if (!build_sorted(t, x, n_duplicates)) {
		return false;
	}
	return amd_class_lut(&t->arena, t, &x->class_lut);
}
