/* SPDX-License-Identifier: Apache-2.0 */
/* Op streams: built, written in both forms, read back, and refused when damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "model/stream/ops.h"
#include "model/stream/opstream.h"

static void push(struct opstream *s, const struct op_desc *d)
{
	assert_true(opstream_push(s, d, NULL));
}

/* A load, a flag pair, two adds of one form, a matmul, a store, a push of a FIFO. */
static void fill(struct opstream *s)
{
	static const uint32_t SHAPE[5] = {1, 1, 1, 64, 32};
	struct op_desc d = op_desc_of(OPK_OP, OPP_MTE2, "TLOAD", 10);
	struct op_opnd *o;

	s->core = CORE_AIV;
	s->lane = 1;
	s->block_idx = 2;
	s->block_num = 3;
	s->payload_slots = 1;
	assert_true(opstream_add_str(s, STR("k.cpp"), &s->kernel, NULL));
	assert_true(opstream_add_str(s, STR("recorder"), &s->front_end, NULL));
	assert_true(VEC_PUSH(&s->slots, ((struct op_slot){.slot = 0,
						.flags = SLOT_TENSOR | SLOT_PAYLOAD,
						.dtype = DT_F32,
						.bytes = 8192,
						.ndims = 2,
						.shapes = {64, 32},
						.strides = {32, 1}})));
	assert_true(
		VEC_PUSH(&s->slots, ((struct op_slot){.slot = 1, .dtype = DT_I64, .value = 7})));
	d.file = "k.cpp";
	d.hint = "%3";
	op_desc_tile(&d, ROLE_DST, DT_F32, 64, 32, 0x100);
	op_desc_gm(&d, ROLE_SRC, DT_F32, SHAPE, 0, 64);
	push(s, &d);
	d = op_desc_flag(OPK_SET, OPP_MTE2, OPP_V, 3, 11);
	push(s, &d);
	d = op_desc_flag(OPK_WAIT, OPP_MTE2, OPP_V, 3, 12);
	push(s, &d);
	for (int i = 0; i < 2; i++) {
		d = op_desc_of(OPK_OP, OPP_V, "TADD", 13);
		op_desc_tile(&d, ROLE_DST, DT_F32, 64, 32, 0x4000 + (uint64_t)i * 0x2000);
		op_desc_tile(&d, ROLE_SRC, DT_F32, 64, 32, 0x100);
		op_desc_tile(&d, ROLE_SRC, DT_F32, 64, 32, 0x100);
		push(s, &d);
	}
	d = op_desc_of(OPK_OP, OPP_M, "TMATMUL_ACC", 14);
	op_desc_tile(&d, ROLE_DST, DT_F32, 16, 48, 0)->loc = LOC_ACC;
	op_desc_tile(&d, ROLE_SRC, DT_F16, 16, 64, 0)->loc = LOC_LEFT;
	op_desc_tile(&d, ROLE_SRC, DT_F16, 64, 48, 0)->loc = LOC_RIGHT;
	push(s, &d);
	d = op_desc_of(OPK_OP, OPP_MTE3, "TSTORE", 15);
	d.form.atomic = 1;
	op_desc_gm(&d, ROLE_DST, DT_F32, SHAPE, OPSTREAM_NO_SLOT, 0);
	o = op_desc_tile(&d, ROLE_SRC, DT_F32, 64, 32, 0x4000);
	o->shape[2] = 10;
	push(s, &d);
	d = op_desc_of(OPK_PUSH, OPP_MTE3, "TPUSH", 16);
	d.form.fifo_dir = DIR_V2C;
	d.form.fifo_slot_num = 4;
	d.form.fifo_slot_size = 8192;
	d.aux = 9;
	op_desc_tile(&d, ROLE_SRC, DT_BF16, 16, 16, 0);
	push(s, &d);
	d = op_desc_of(OPK_OP, OPP_V, "TNOSUCH", 17);
	push(s, &d);
}

static void make(struct opstream_set *set, unsigned n)
{
	opstream_set_init(set);
	for (unsigned i = 0; i < n; i++) {
		struct opstream *s = opstream_set_new(set, NULL);

		assert_non_null(s);
		fill(s);
		assert_true(opstream_seal(s, NULL));
	}
}

/* Bytes on the heap, followed by the room that readers may look at. */
static char *bytes_of(const struct opstream_set *set, bool is_binary, size_t *n)
{
	char *p = NULL, *padded;
	FILE *f = open_memstream(&p, n);

	assert_non_null(f);
	assert_true(is_binary ? opstream_write_binary(set, f, NULL)
			      : opstream_write_jsonl(set, f, NULL));
	fclose(f);
	padded = calloc(1, *n + FILE_PAD);
	assert_non_null(padded);
	memcpy(padded, p, *n);
	free(p);
	return padded;
}

static void test_opstream_shares_forms(void **state)
{
	struct opstream_set set;
	const struct opstream *s;

	(void)state;
	make(&set, 1);
	s = &set.v.v[0];
	assert_int_equal(s->ops.n, 9);
	assert_int_equal(s->forms.n, 8);
	assert_int_equal(s->ops.v[3].form, s->ops.v[4].form);
	assert_int_equal(s->words.v[s->ops.v[4].first_word], 0x6000);
	opstream_set_deinit(&set);
}

static void test_opstream_derives(void **state)
{
	struct opstream_set set;
	const struct opstream *s;

	(void)state;
	make(&set, 1);
	s = &set.v.v[0];
#define DERIVED(i) s->derived.v[s->ops.v[i].form]
	assert_int_equal(DERIVED(0).bytes, 64 * 32 * 4);
	assert_int_equal(DERIVED(3).elems, 64 * 32);
	assert_int_equal(DERIVED(3).bytes, 0);
	assert_int_equal(DERIVED(5).macs, 16 * 48 * 64);
	assert_int_equal(DERIVED(7).bytes, 16 * 16 * 2);
#undef DERIVED
	/* accumulating: dst is read, too */
	assert_int_equal(s->opnds.v[s->forms.v[s->ops.v[5].form].first_opnd].access,
		ACCESS_READ | ACCESS_WRITE);
	assert_int_equal(s->forms.v[s->ops.v[8].form].op, OP_UNKNOWN);
	opstream_set_deinit(&set);
}

static void test_opstream_round_trip(void **state)
{
	(void)state;
	for (int is_binary = 0; is_binary < 2; is_binary++) {
		struct opstream_set set, back;
		size_t n, m;
		char *first, *again;

		make(&set, 2);
		opstream_set_init(&back);
		first = bytes_of(&set, is_binary, &n);
		assert_true(opstream_read(&back, first, n, "x", NULL));
		assert_int_equal(back.v.n, 2);
		assert_int_equal(back.v.v[1].block_idx, 2);
		assert_int_equal(back.v.v[1].lane, 1);
		again = bytes_of(&back, is_binary, &m);
		assert_int_equal(n, m);
		assert_memory_equal(first, again, n);
		free(again);
		/* and through the other form */
		again = bytes_of(&back, !is_binary, &m);
		opstream_set_deinit(&back);
		opstream_set_init(&back);
		assert_true(opstream_read(&back, again, m, "x", NULL));
		free(again);
		again = bytes_of(&back, is_binary, &m);
		assert_int_equal(n, m);
		assert_memory_equal(first, again, n);
		free(first);
		free(again);
		opstream_set_deinit(&back);
		opstream_set_deinit(&set);
	}
}

/* Every prefix, and every byte of the head and tables set to 0xff: an error or a stream, never
 * more. */
static void test_opstream_damaged(void **state)
{
	struct opstream_set set, back;
	size_t n;
	char *p;

	(void)state;
	make(&set, 1);
	p = bytes_of(&set, true, &n);
	opstream_set_init(&back);
	for (size_t i = 0; i < n; i++) {
		struct incore_error e = {0};

		assert_false(opstream_read(&back, p, i, "x", &e));
		assert_int_equal(e.status, INCORE_BAD_INPUT);
		incore_error_clear(&e);
	}
	for (size_t i = 0; i < n; i++) {
		char was = p[i];

		p[i] = (char)0xff;
		opstream_read(&back, p, n, "x", NULL);
		p[i] = was;
	}
	free(p);
	opstream_set_deinit(&back);
	opstream_set_deinit(&set);
}

static void test_opstream_bad_lines(void **state)
{
	static const struct {
		const char *text, *code;
	} CASES[] = {
		{"", "truncated"},
		{"{\"kind\":\"OP\"}", "bad-magic"},
		{"{\"format\":\"other\"}", "bad-magic"},
		{"{\"format\":\"incore-opstream\",\"version\":2}", "bad-version"},
		{"{\"format\":\"incore-opstream\",\"arch\":\"a9\"}", "bad-value"},
		{"{\"format\":\"incore-opstream\",\"block_idx\":4}", "bad-value"},
		{"{\"format\":\"incore-opstream\"}\n{\"kind\":\"OP\"}", "bad-value"},
		{"{\"format\":\"incore-opstream\"}\n{\"op\":\"X\",\"pipe\":\"Q\"}", "bad-value"},
		{"{\"format\":\"incore-opstream\"}\n{\"op\":\"X\",\"opnd\":[{\"rows\":5000000}]}",
			"bad-value"},
		{"{\"format\":\"incore-opstream\"}\n{\"op\":\"X\"", "truncated"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct incore_error e = {0};
		struct opstream_set set;
		size_t n = strlen(CASES[i].text);
		char *p = calloc(1, n + FILE_PAD);

		assert_non_null(p);
		memcpy(p, CASES[i].text, n);
		opstream_set_init(&set);
		assert_false(opstream_read(&set, p, n, "x", &e));
		assert_string_equal(e.code, CASES[i].code);
		assert_int_equal(set.v.n, 0);
		incore_error_clear(&e);
		opstream_set_deinit(&set);
		free(p);
	}
}

static void test_opstream_table(void **state)
{
	size_t n;
	const struct op_info *t = op_table(&n);

	(void)state;
	assert_true(n > 150);
	for (size_t i = 1; i < n; i++) {
		assert_int_equal(op_find(str_of(t[i].name)), i); /* also: no name twice */
		assert_true(t[i].price != PRICE_UNKNOWN);
	}
	assert_int_equal(op_find(STR("TNOSUCH")), OP_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opstream_shares_forms),
		cmocka_unit_test(test_opstream_derives),
		cmocka_unit_test(test_opstream_round_trip),
		cmocka_unit_test(test_opstream_damaged),
		cmocka_unit_test(test_opstream_bad_lines),
		cmocka_unit_test(test_opstream_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
