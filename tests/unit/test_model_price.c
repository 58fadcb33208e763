/* SPDX-License-Identifier: Apache-2.0 */
/* test_model_price.c: profiles, and what single ops cost, by hand from the constants. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/profile/price.h"

static struct profile a2a3, a5;

static int load(void **state)
{
	(void)state;
	return !profile_load(&a2a3, "910b1", ARCH_A2A3, NULL) ||
	       !profile_load(&a5, NULL, ARCH_A5, NULL);
}

static int unload(void **state)
{
	(void)state;
	profile_deinit(&a2a3);
	profile_deinit(&a5);
	return 0;
}

static struct op_price price(const struct profile *p, const struct op_desc *d)
{
	struct opstream s;
	struct op_price out;

	assert_true(opstream_init(&s, NULL));
	s.arch = p->arch;
	assert_true(opstream_push(&s, d, NULL));
	assert_true(opstream_seal(&s, NULL));
	price_form(p, &s, &s.forms.v[0], &out);
	opstream_deinit(&s);
	return out;
}

static struct op_desc vector(
	const char *name, unsigned n_src, enum op_dtype t, uint32_t rows, uint32_t cols)
{
	struct op_desc d = op_desc_of(OPK_OP, OPP_V, name, 1);

	op_desc_tile(&d, ROLE_DST, t, rows, cols, 0);
	for (unsigned i = 0; i < n_src; i++)
		op_desc_tile(&d, ROLE_SRC, t, rows, cols, 0x8000);
	return d;
}

static void test_profile_values(void **state)
{
	(void)state;
	assert_string_equal(a2a3.name, "910b1");
	assert_string_equal(a2a3.soc, "Ascend910B1");
	assert_string_equal(a2a3.calibration, "published-constants");
	assert_int_equal(strlen(a2a3.sha256), 64);
	assert_int_equal(a2a3.k[K_FIX_ROW].e4, 44500);
	assert_int_equal(a2a3.k[K_L0A].status, STATUS_FIT);
	assert_int_equal(a2a3.residuals[KIND_CUBE].kernels, 6);
	assert_int_equal(a2a3.residuals[KIND_CUBE].low_e4[1], 7900);
	assert_int_equal(a2a3.residuals[KIND_MIXED].kernels, 0);
	assert_string_equal(a2a3.k[K_CLOCK_MHZ].origin, "910b1");
	assert_string_equal(a2a3.k[K_L0A].origin, "a2a3");
	assert_int_equal(a5.arch, ARCH_A5);
	assert_string_equal(a5.calibration, "uncalibrated");
	assert_int_equal(a5.k[K_L0A].e4, 2063000);
}

static void test_profile_unknown_name(void **state)
{
	struct incore_error e = {0};
	struct profile p;

	(void)state;
	assert_false(profile_load(&p, "910c9", ARCH_A2A3, &e));
	assert_int_equal(e.status, INCORE_BAD_INPUT);
	assert_non_null(strstr(e.message, "910b1, 910b2"));
	assert_false(profile_load(&p, "../a2a3", ARCH_A2A3, &e));
	incore_error_clear(&e);
}

static void test_profile_number(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t e4;
	} cases[] = {{"64", true, 640000}, {"0.0306", true, 306}, {"-0.12", true, -1200},
		{"1.", false, 0}, {"1.23456", false, 0}, {"", false, 0}, {"-", false, 0},
		{"1e3", false, 0}, {".5", true, 5000}, {"99999999999999", false, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t v = 0;

		assert_int_equal(prof_number(str_of(cases[i].text), &v), cases[i].ok);
		assert_int_equal(v, cases[i].e4);
	}
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_profile_bad_files(void **state)
{
	static const struct {
		const char *text;
		uint32_t line;
	} cases[] = {
		{"a: 1\n", 1},
		{"format: incore-profile\nversion: 2\n", 2},
		{"format: incore-profile\nversion: 1\nbase: ../x\n", 3},
		{"format: incore-profile\nversion: 1\nwhat: 1\n", 3},
		{"format: incore-profile\nversion: 1\nbase: a2a3\nconstants:\n"
		 "  l0a: {value: 0, unit: B/cyc, source: x, status: fit}\n",
			5},
		{"format: incore-profile\nversion: 1\nbase: a2a3\nconstants:\n"
		 "  l0a: {value: 7, unit: B/cyc, source: x, status: sure}\n",
			5},
		{"format: incore-profile\nversion: 1\nbase: a2a3\nconstants:\n"
		 "  l0a: {value: 7, unit: B/cyc, status: fit}\n",
			5},
		{"format: incore-profile\nversion: 1\nbase: a2a3\nconstants:\n"
		 "  nope: {value: 7, unit: B/cyc, source: x, status: fit}\n",
			5},
		{"format: incore-profile\nversion: 1\nbase: a2a3\ntables:\n"
		 "  TROWMAX_f32: {points: \"8:7/4 4:1/2\", source: x, status: fit}\n",
			5},
		{"format: incore-profile\nversion: 1\n", 0},
	};
	char path[] = "/tmp/incore-profile-XXXXXX";
	char file[64];

	(void)state;
	assert_non_null(mkdtemp(path));
	snprintf(file, sizeof(file), "%s/p.yaml", path);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct incore_error e = {0};
		struct profile p;

		write_file(file, cases[i].text);
		assert_false(profile_load(&p, file, ARCH_A2A3, &e));
		assert_int_equal(e.status, INCORE_BAD_INPUT);
		assert_int_equal(e.line, cases[i].line);
		assert_string_equal(e.path, file);
		incore_error_clear(&e);
	}
	remove(file);
	remove(path);
}

/* name, sources, type, rows, cols: occ, lat */
static void test_price_vector(void **state)
{
	static const struct {
		const char *name;
		unsigned n_src;
		enum op_dtype t;
		uint32_t rows, cols;
		uint64_t occ, lat;
		bool fallback;
	} cases[] = {
		{"TADD", 2, DT_F16, 160, 128, 339, 344, false}, /* 2 * 160 + 19, + 24 */
		{"TADD", 2, DT_F16, 80, 128, 179, 184, false},
		{"TADD", 2, DT_F32, 64, 64, 147, 152, false},
		{"TADD", 2, DT_I16, 64, 64, 163, 168, false},  /* a repeat a row, count mode */
		{"TDIV", 2, DT_F32, 64, 64, 275, 286, false},  /* 4 * 64 + 19, + 30 */
		{"TDIV", 2, DT_F16, 64, 64, 291, 302, false},  /* 4 * 64 + 16 */
		{"TDIVS", 1, DT_F32, 32, 64, 179, 205, false}, /* 5 * 32 */
		{"TDIVS", 1, DT_F16, 63, 64, 303, 329, false}, /* 9 * 31.5 = 283.5, half up */
		{"TADDS", 1, DT_F32, 32, 64, 51, 57, false},
		{"TEXP", 1, DT_F32, 64, 64, 147, 159, false},
		{"TEXP", 1, DT_F16, 64, 64, 83, 95, false},
		{"TEXP", 1, DT_F16, 32, 32, 35, 47, false},
		{"TMINS", 1, DT_F32, 64, 64, 83, 87, false},
		{"TROWMAX", 1, DT_F32, 64, 64, 448, 480, false},
		{"TROWSUM", 1, DT_F16, 64, 128, 448, 495, false},
		{"TCOLMAX", 1, DT_F32, 64, 64, 1120, 1137, false},
		{"TROWEXPAND", 1, DT_F32, 64, 64, 896, 933, false},
		/* between 64: 7/32 and 96: 9/61 */
		{"TROWMAX", 1, DT_F32, 10, 80, 80, 127, false},
		/* beyond 336: 14/131, the last two 0.8 in 32 columns */
		{"TROWMAX", 1, DT_F32, 10, 368, 148, 279, true},
		{"TROWMIN", 1, DT_F32, 64, 64, 448, 480, true},
		{"TTRANS", 1, DT_F32, 128, 128, 501, 501, false},
		{"TSORT32", 1, DT_F32, 1, 1024, 512, 532, false},
		{"TMRGSORT", 1, DT_F32, 1, 2048, 624, 644, false},   /* 78 a KiB */
		{"TMRGSORT", 2, DT_F32, 1, 1024, 2680, 2700, false}, /* two lists: 335 */
		{"TMRGSORT", 4, DT_F32, 1, 512, 624, 644, false},
		{"TREM", 2, DT_F32, 64, 64, 147, 134, true}, /* 2 R + 6 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct op_desc d = vector(
			cases[i].name, cases[i].n_src, cases[i].t, cases[i].rows, cases[i].cols);
		struct op_price p = price(&a2a3, &d);

		if (p.occ_cyc != cases[i].occ || p.lat_cyc != cases[i].lat ||
			p.is_fallback != cases[i].fallback)
			fail_msg("%s %ux%u: occ %llu lat %llu fallback %d, want %llu %llu %d",
				cases[i].name, cases[i].rows, cases[i].cols,
				(unsigned long long)p.occ_cyc, (unsigned long long)p.lat_cyc,
				p.is_fallback, (unsigned long long)cases[i].occ,
				(unsigned long long)cases[i].lat, cases[i].fallback);
		assert_int_equal(p.issue_cyc, 4);
	}
}

static void test_price_gaps(void **state)
{
	struct op_desc d = vector("TADDS", 1, DT_F32, 16, 128);
	struct op_price p;

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		OPND_VCOL(&d.opnd[i]) = 32; /* 128 of 512 bytes a row: a repeat each */
	p = price(&a2a3, &d);
	assert_int_equal(p.lat_cyc, 16 + 25);
	OPND_VCOL(&d.opnd[0]) = OPND_VCOL(&d.opnd[1]) = 0;
	p = price(&a2a3, &d);
	assert_true(p.is_empty);
	assert_int_equal(p.lat_cyc, 0);
	assert_int_equal(p.issue_cyc, 4);
}

static struct op_desc tlocs(const char *name, enum op_pipe pipe, enum op_loc dst, enum op_loc src,
	uint32_t rows, uint32_t cols)
{
	struct op_desc d = op_desc_of(OPK_OP, pipe, name, 1);

	op_desc_tile(&d, ROLE_DST, DT_F16, rows, cols, 0)->loc = (uint8_t)dst;
	op_desc_tile(&d, ROLE_SRC, DT_F16, rows, cols, 0)->loc = (uint8_t)src;
	return d;
}

static void test_price_cube(void **state)
{
	struct op_desc d = tlocs("TEXTRACT", OPP_MTE1, LOC_LEFT, LOC_MAT, 128, 64);
	struct op_price p = price(&a2a3, &d);

	(void)state;
	assert_int_equal(p.occ_cyc, 96); /* 16384 / 171 = 95.81 */
	assert_int_equal(p.lat_cyc, 121);
	d = tlocs("TEXTRACT", OPP_MTE1, LOC_RIGHT, LOC_MAT, 64, 256);
	p = price(&a2a3, &d);
	assert_int_equal(p.occ_cyc, 291); /* 32768 / 112.6 = 291.01 */
	assert_int_equal(p.lat_cyc, 316);
	d = op_desc_of(OPK_OP, OPP_M, "TMATMUL", 1);
	op_desc_tile(&d, ROLE_DST, DT_F32, 128, 256, 0)->loc = LOC_ACC;
	op_desc_tile(&d, ROLE_SRC, DT_F16, 128, 64, 0)->loc = LOC_LEFT;
	op_desc_tile(&d, ROLE_SRC, DT_F16, 64, 256, 0)->loc = LOC_RIGHT;
	p = price(&a2a3, &d);
	assert_int_equal(p.occ_cyc, 21 + 8 * 16 * 4);
	assert_int_equal(p.lat_cyc, p.occ_cyc);
	assert_int_equal(p.status, STATUS_DEVICE);
	d.opnd[1].dtype = d.opnd[2].dtype = DT_F32;
	d.opnd[1].bits = d.opnd[2].bits = 32;
	assert_int_equal(price(&a2a3, &d).occ_cyc, 21 + 2 * 8 * 16 * 8);
	assert_int_equal(price(&a5, &d).occ_cyc, 25 + 8 * 8 * 16 * 8);
}

static void test_price_fix(void **state)
{
	static const uint32_t shape[5] = {1, 1, 1, 128, 256};
	struct op_desc d = op_desc_of(OPK_OP, OPP_FIX, "TSTORE", 1);
	struct op_price p;

	(void)state;
	op_desc_gm(&d, ROLE_DST, DT_F32, shape, 0, 0);
	op_desc_tile(&d, ROLE_SRC, DT_F32, 128, 256, 0)->loc = LOC_ACC;
	p = price(&a2a3, &d);
	assert_int_equal(p.price, PRICE_FIX);
	assert_int_equal(p.occ_cyc, 1802); /* 164 + 128 * 1024 / 80 = 1802.4 */
	d = tlocs("TMOV", OPP_FIX, LOC_MAT, LOC_ACC, 128, 256);
	d.opnd[0].dtype = DT_F32;
	d.opnd[0].bits = 32;
	assert_int_equal(price(&a2a3, &d).occ_cyc, 1275); /* 164 + 128 * 1024 / 118 = 1274.8 */
	/* 24 columns: 3 pieces of 32 B, an odd part of 3: 164 + 16 * (4.45 + 2 * 2.6) */
	d = tlocs("TMOV", OPP_FIX, LOC_MAT, LOC_ACC, 16, 24);
	d.opnd[0].dtype = DT_F32;
	d.opnd[0].bits = 32;
	assert_int_equal(price(&a2a3, &d).occ_cyc, 318); /* 318.4 */
}

static void test_price_dma(void **state)
{
	static const uint32_t flat[5] = {1, 1, 1, 128, 256}, parts[5] = {2, 2, 2, 32, 64};
	struct op_desc d = op_desc_of(OPK_OP, OPP_MTE2, "TLOAD", 1);
	struct op_price p;

	(void)state;
	op_desc_tile(&d, ROLE_DST, DT_F16, 128, 256, 0)->loc = LOC_MAT;
	op_desc_gm(&d, ROLE_SRC, DT_F16, flat, 0, 0);
	p = price(&a2a3, &d);
	assert_true(p.is_dma);
	assert_int_equal(p.n_dma, 1);
	assert_int_equal(p.occ_cyc, 8);
	assert_int_equal(p.lat_cyc, 381);
	assert_int_equal(p.data_cyc, 771); /* 65536 / 85 = 771.01 */
	d = op_desc_of(OPK_OP, OPP_MTE2, "TLOAD", 1);
	op_desc_tile(&d, ROLE_DST, DT_F32, 256, 64, 0);
	op_desc_gm(&d, ROLE_SRC, DT_F32, parts, 0, 0);
	p = price(&a2a3, &d);
	assert_int_equal(p.n_dma, 8);
	assert_int_equal(p.data_cyc, 128); /* 8192 / 64 */
	a2a3.dma_serial = true;
	p = price(&a2a3, &d);
	a2a3.dma_serial = false;
	assert_int_equal(p.data_cyc, 328); /* 264 + 8192 / 128 */
	assert_int_equal(p.n_dma * p.data_cyc, 2624);
}

static void test_price_a5(void **state)
{
	struct op_desc d = vector("TADD", 2, DT_F32, 64, 64);
	struct op_price p = price(&a5, &d);

	(void)state;
	assert_int_equal(p.lat_cyc, 135); /* 1.247 * 64 + 55.1 = 134.908 */
	assert_int_equal(p.occ_cyc, 99);  /* 1.247 * 64 + 19 = 98.808 */
	assert_false(p.is_fallback);
	d = vector("TMAX", 2, DT_F32, 64, 64);
	p = price(&a5, &d);
	assert_int_equal(p.lat_cyc, 135);
	assert_true(p.is_fallback);
	d = vector("TADD", 2, DT_F32, 16, 128);
	for (unsigned i = 0; i < 3; i++)
		OPND_VCOL(&d.opnd[i]) = 64;
	p = price(&a5, &d);
	assert_int_equal(p.lat_cyc, 120); /* (1.875 * 1 + 2.88) * 16 + 44.3 = 120.38 */
	d = vector("TCVT", 1, DT_F32, 64, 64);
	d.opnd[0].dtype = DT_BF16;
	d.opnd[0].bits = 16;
	p = price(&a5, &d);
	assert_int_equal(p.lat_cyc, 137); /* 1.32 * 64 + 52.3 = 136.78 */
	assert_false(p.is_fallback);
}

static void test_price_unknown(void **state)
{
	struct op_desc d = vector("TSOMETHING", 1, DT_F32, 64, 64);
	struct op_price p = price(&a2a3, &d);

	(void)state;
	assert_true(p.is_unknown);
	assert_int_equal(p.lat_cyc, 134);
	assert_int_equal(p.status, STATUS_GUESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profile_values),
		cmocka_unit_test(test_profile_unknown_name),
		cmocka_unit_test(test_profile_number),
		cmocka_unit_test(test_profile_bad_files),
		cmocka_unit_test(test_price_vector),
		cmocka_unit_test(test_price_gaps),
		cmocka_unit_test(test_price_cube),
		cmocka_unit_test(test_price_fix),
		cmocka_unit_test(test_price_dma),
		cmocka_unit_test(test_price_a5),
		cmocka_unit_test(test_price_unknown),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
