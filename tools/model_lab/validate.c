/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate.c: times each published row and compares it with its figure. Parts: published figures;
 * the comparison.
 */
#include "model_lab/validate.h"

#include "args/spec.h"
#include "base/clock.h"
#include "model/record/record_internal.h"

/* --- published figures ------------------------------------------------------------------------ */

/*
 * Published figures, as data. Roles were assigned before anything was tuned and do not change;
 * "seen" marks a row that was compared before a price it depends on was last changed (top-k: the
 * merge of two lists). Vector add: repeats, adds, buffers, tiles, cores. GEMM: M blocks, N blocks,
 * K steps, N. Top-k: rows, half. Convolution: c1, h, w, n, blocks (M * 100 + N). MX: fp4, M, K, N
 * of a core.
 */

enum v_work { W_VECTOR_ADD, W_GEMM, W_CONV, W_TOPK, W_MX, W_COUNT };
enum v_kind { V_END, V_TOTAL, V_BUSY_US, V_BUSY_PCT, V_BUSY_PER_OP };

struct v_measure {
	enum v_kind kind;
	enum op_pipe pipe;
	int64_t from, to; /* thousandths; to 0: equal to from */
	unsigned gate;	  /* permille */
};

struct v_case {
	const char *id, *name, *profile;
	enum validate_role role;
	const char *remark;
	enum v_work work;
	int64_t par[5];
	struct v_measure m[7];
};

enum v_form {
	VF_PLAIN,
	VF_TWO,
	VF_SCALAR,
	VF_CVT,
	VF_REDUCE,
	VF_COLRED,
	VF_SEL,
	VF_LOAD,
	VF_STORE
};

struct v_op { /* a single op */
	const char *id, *name, *profile;
	const char *op;
	enum v_form form;
	enum op_dtype dtype, from;  /* from: source of TCVT */
	uint32_t rows, cols, vcols; /* of the tile; vcols 0: all */
	uint32_t gm[5];		    /* VF_LOAD, VF_STORE */
	bool is_dn;
	int64_t cyc, cyc_to; /* thousandths */
	bool may_fit;	     /* F: may set a constant of its op */
	bool is_serial;	     /* with dma_serial */
};

/* clang-format off */
static const struct v_case VALIDATE_CASES[] = {
	{"F1", "vector add, 8 cores, 40 KiB tiles, 8 adds", "910b4", ROW_FIT, "", W_VECTOR_ADD,
		{160, 8, 1, 512, 8}, {{V_TOTAL, OPP_S, 1378090, 0, 100},
		{V_BUSY_US, OPP_V, 844040, 0, 0},
		{V_BUSY_US, OPP_MTE2, 502000, 516000, 0},
		{V_BUSY_US, OPP_MTE3, 199000, 209000, 0}}},
	{"F2", "vadd of 160 repeats", "910b4", ROW_FIT, "", W_VECTOR_ADD,
		{160, 8, 1, 512, 8}, {{V_BUSY_PER_OP, OPP_V, 340000, 0, 100}}},
	{"F2", "vadd of 80 repeats", "910b4", ROW_FIT, "", W_VECTOR_ADD,
		{80, 8, 2, 1024, 8}, {{V_BUSY_PER_OP, OPP_V, 178800, 0, 100}}},
	{"F3", "vector add, 1 core, 4 KiB tiles", "910b4", ROW_FIT, "", W_VECTOR_ADD,
		{16, 1, 1, 40960, 1}, {{V_TOTAL, OPP_S, 14974340, 0, 100},
		{V_BUSY_PCT, OPP_MTE2, 85040, 0, 0},
		{V_BUSY_PCT, OPP_MTE3, 39560, 0, 0},
		{V_BUSY_PCT, OPP_V, 11110, 0, 0}}},
	{"F4", "vector add, 1 core, ten 1 KiB tiles", "910b4", ROW_FIT, "tiny: reported", W_VECTOR_ADD,
		{4, 1, 1, 10, 1}, {{V_TOTAL, OPP_S, 4600, 0, 0},
		{V_BUSY_US, OPP_S, 2580, 0, 0},
		{V_BUSY_US, OPP_V, 284, 0, 0},
		{V_BUSY_US, OPP_MTE2, 2510, 0, 0},
		{V_BUSY_US, OPP_MTE3, 1620, 0, 0}}},
	{"F5", "GEMM 6144^3", "910b1", ROW_FIT, "", W_GEMM,
		{12, 4, 96, 6144}, {{V_TOTAL, OPP_S, 1506000, 0, 100},
		{V_BUSY_US, OPP_M, 1305700, 0, 50},
		{V_BUSY_PCT, OPP_M, 86700, 0, 100},
		{V_BUSY_PCT, OPP_MTE1, 68100, 0, 0},
		{V_BUSY_PCT, OPP_MTE2, 95200, 0, 0},
		{V_BUSY_PCT, OPP_FIX, 3100, 0, 0}}},
	{"F6", "top-k fp32, 4800 rows", "910b1", ROW_FIT, "was a check row", W_TOPK,
		{100, 0}, {{V_TOTAL, OPP_S, 324106, 0, 0},
		{V_BUSY_PCT, OPP_V, 94000, 0, 0},
		{V_BUSY_PCT, OPP_MTE2, 11500, 12400, 0},
		{V_BUSY_PCT, OPP_MTE3, 9600, 10500, 0},
		{V_BUSY_PCT, OPP_S, 2400, 6000, 0}}},
	{"C1", "GEMM 1536^3", "910b1", ROW_CHECK, "seen", W_GEMM,
		{3, 1, 24, 1536}, {{V_TOTAL, OPP_S, 38800, 0, 0},
		{V_BUSY_PCT, OPP_M, 54500, 0, 0},
		{V_BUSY_PCT, OPP_MTE1, 42200, 0, 0},
		{V_BUSY_PCT, OPP_MTE2, 72200, 0, 0},
		{V_BUSY_PCT, OPP_FIX, 7700, 0, 0}}},
	{"C1", "GEMM 3072^3", "910b1", ROW_CHECK, "seen", W_GEMM,
		{6, 2, 48, 3072}, {{V_TOTAL, OPP_S, 206700, 0, 0},
		{V_BUSY_PCT, OPP_M, 79000, 0, 0},
		{V_BUSY_PCT, OPP_MTE1, 62000, 0, 0},
		{V_BUSY_PCT, OPP_MTE2, 90900, 0, 0},
		{V_BUSY_PCT, OPP_FIX, 5800, 0, 0}}},
	{"C1", "GEMM 7680^3", "910b1", ROW_CHECK, "seen", W_GEMM,
		{15, 5, 120, 7680}, {{V_TOTAL, OPP_S, 3168000, 0, 0},
		{V_BUSY_PCT, OPP_M, 80600, 0, 0},
		{V_BUSY_PCT, OPP_MTE1, 63000, 0, 0},
		{V_BUSY_PCT, OPP_MTE2, 98400, 0, 0},
		{V_BUSY_PCT, OPP_FIX, 2400, 0, 0}}},
	{"C2", "vector add, 8 cores, 20 KiB tiles, 8 adds, two buffers", "910b4", ROW_CHECK, "seen", W_VECTOR_ADD,
		{80, 8, 2, 1024, 8}, {{V_TOTAL, OPP_S, 959620, 0, 0},
		{V_BUSY_US, OPP_MTE2, 770000, 817000, 0},
		{V_BUSY_US, OPP_MTE3, 235000, 264000, 0}}},
	{"C3", "vector add, 8 cores, 4 KiB tiles", "910b4", ROW_CHECK, "seen", W_VECTOR_ADD,
		{16, 1, 1, 5120, 8}, {{V_TOTAL, OPP_S, 2049780, 0, 0},
		{V_BUSY_PCT, OPP_MTE2, 86000, 0, 0},
		{V_BUSY_PCT, OPP_MTE3, 39000, 41000, 0},
		{V_BUSY_PCT, OPP_V, 10000, 0, 0}}},
	{"C3", "vector add, 8 cores, 40 KiB tiles", "910b4", ROW_CHECK, "seen", W_VECTOR_ADD,
		{160, 1, 1, 512, 8}, {{V_TOTAL, OPP_S, 892020, 0, 0},
		{V_BUSY_PCT, OPP_MTE2, 85000, 87000, 0},
		{V_BUSY_PCT, OPP_MTE3, 25000, 29000, 0},
		{V_BUSY_PCT, OPP_V, 12000, 14000, 0}}},
	{"C4", "vector add, 8 cores, 4 KiB tiles, again", "910b4", ROW_CHECK, "seen", W_VECTOR_ADD,
		{16, 1, 1, 5120, 8}, {{V_TOTAL, OPP_S, 2041400, 0, 0},
		{V_BUSY_PCT, OPP_MTE2, 86000, 0, 0},
		{V_BUSY_PCT, OPP_MTE3, 37000, 39000, 0},
		{V_BUSY_PCT, OPP_V, 10000, 0, 0}}},
	{"C5", "top-k fp32, 3456 rows", "910b1", ROW_CHECK, "seen", W_TOPK,
		{72, 0}, {{V_TOTAL, OPP_S, 238819, 0, 0},
		{V_BUSY_PCT, OPP_V, 91500, 0, 0},
		{V_BUSY_PCT, OPP_MTE2, 11500, 12400, 0},
		{V_BUSY_PCT, OPP_MTE3, 9600, 10500, 0},
		{V_BUSY_PCT, OPP_S, 2400, 6000, 0}}},
	{"C5", "top-k fp32, 2304 rows", "910b1", ROW_CHECK, "seen", W_TOPK,
		{48, 0}, {{V_TOTAL, OPP_S, 161375, 0, 0},
		{V_BUSY_PCT, OPP_V, 88700, 0, 0},
		{V_BUSY_PCT, OPP_MTE2, 11500, 12400, 0},
		{V_BUSY_PCT, OPP_MTE3, 9600, 10500, 0},
		{V_BUSY_PCT, OPP_S, 2400, 6000, 0}}},
	{"C5", "top-k half, 4800 rows", "910b1", ROW_CHECK, "seen", W_TOPK,
		{100, 1}, {{V_TOTAL, OPP_S, 326886, 0, 0},
		{V_BUSY_PCT, OPP_V, 93700, 0, 0},
		{V_BUSY_PCT, OPP_MTE2, 11500, 12400, 0},
		{V_BUSY_PCT, OPP_MTE3, 9600, 10500, 0},
		{V_BUSY_PCT, OPP_S, 2400, 6000, 0}}},
	{"C6", "conv2d c1 8, 8x48, n 1536", "910b1", ROW_CHECK, "blind", W_CONV,
		{8, 8, 48, 1536, 301}, {{V_TOTAL, OPP_S, 32200, 0, 0},
		{V_BUSY_PCT, OPP_M, 52900, 0, 0},
		{V_BUSY_PCT, OPP_MTE2, 43900, 80700, 0},
		{V_BUSY_PCT, OPP_MTE1, 57300, 62400, 0},
		{V_BUSY_PCT, OPP_FIX, 1700, 5600, 0}}},
	{"C6", "conv2d c1 16, 12x64, n 3072", "910b1", ROW_CHECK, "blind", W_CONV,
		{16, 12, 64, 3072, 602}, {{V_TOTAL, OPP_S, 147300, 0, 0},
		{V_BUSY_PCT, OPP_M, 86100, 0, 0},
		{V_BUSY_PCT, OPP_MTE2, 43900, 80700, 0},
		{V_BUSY_PCT, OPP_MTE1, 57300, 62400, 0},
		{V_BUSY_PCT, OPP_FIX, 1700, 5600, 0}}},
	{"C6", "conv2d c1 24, 12x96, n 4608", "910b1", ROW_CHECK, "blind", W_CONV,
		{24, 12, 96, 4608, 903}, {{V_TOTAL, OPP_S, 470900, 0, 0},
		{V_BUSY_PCT, OPP_M, 89300, 0, 0},
		{V_BUSY_PCT, OPP_MTE2, 43900, 80700, 0},
		{V_BUSY_PCT, OPP_MTE1, 57300, 62400, 0},
		{V_BUSY_PCT, OPP_FIX, 1700, 5600, 0}}},
	{"C6", "conv2d c1 32, 16x96, n 6144", "910b1", ROW_CHECK, "blind", W_CONV,
		{32, 16, 96, 6144, 1204}, {{V_TOTAL, OPP_S, 1097900, 0, 0},
		{V_BUSY_PCT, OPP_M, 90800, 0, 0},
		{V_BUSY_PCT, OPP_MTE2, 43900, 80700, 0},
		{V_BUSY_PCT, OPP_MTE1, 57300, 62400, 0},
		{V_BUSY_PCT, OPP_FIX, 1700, 5600, 0}}},
	{"C6", "conv2d c1 40, 15x128, n 7680", "910b1", ROW_CHECK, "blind", W_CONV,
		{40, 15, 128, 7680, 1505}, {{V_TOTAL, OPP_S, 2131200, 0, 0},
		{V_BUSY_PCT, OPP_M, 91300, 0, 0},
		{V_BUSY_PCT, OPP_MTE2, 43900, 80700, 0},
		{V_BUSY_PCT, OPP_MTE1, 57300, 62400, 0},
		{V_BUSY_PCT, OPP_FIX, 1700, 5600, 0}}},
	{"C7", "MX fp8 2048^3", "a5", ROW_CHECK, "blind", W_MX,
		{0, 512, 2048, 256}, {{V_TOTAL, OPP_S, 38300, 0, 0},
		{V_BUSY_PCT, OPP_M, 58200, 0, 0}}},
	{"C7", "MX fp8 4096^3", "a5", ROW_CHECK, "blind", W_MX,
		{0, 1024, 4096, 512}, {{V_TOTAL, OPP_S, 187900, 0, 0},
		{V_BUSY_PCT, OPP_M, 87700, 0, 0}}},
	{"C7", "MX fp8 6144^3", "a5", ROW_CHECK, "blind", W_MX,
		{0, 1536, 6144, 768}, {{V_TOTAL, OPP_S, 602000, 0, 0},
		{V_BUSY_PCT, OPP_M, 91600, 0, 0}}},
	{"C7", "MX fp8 8192^3", "a5", ROW_CHECK, "blind", W_MX,
		{0, 2048, 8192, 1024}, {{V_TOTAL, OPP_S, 1474900, 0, 0},
		{V_BUSY_PCT, OPP_M, 90100, 0, 0}}},
	{"C7", "MX fp4 2048x2048x2048", "a5", ROW_CHECK, "blind", W_MX,
		{1, 512, 2048, 256}, {{V_TOTAL, OPP_S, 42500, 0, 0},
		{V_BUSY_PCT, OPP_M, 44700, 0, 0}}},
	{"C7", "MX fp4 2048x4096x4096", "a5", ROW_CHECK, "blind", W_MX,
		{1, 512, 4096, 512}, {{V_TOTAL, OPP_S, 100300, 0, 0},
		{V_BUSY_PCT, OPP_M, 77400, 0, 0}}},
	{"C7", "MX fp4 4096x1024x8192", "a5", ROW_CHECK, "blind", W_MX,
		{1, 1024, 1024, 1024}, {{V_TOTAL, OPP_S, 122600, 0, 0},
		{V_BUSY_PCT, OPP_M, 64900, 0, 0}}},
	{"C7", "MX fp4 1024x12288x4096", "a5", ROW_CHECK, "blind", W_MX,
		{1, 256, 12288, 512}, {{V_TOTAL, OPP_S, 137700, 0, 0},
		{V_BUSY_PCT, OPP_M, 84900, 0, 0}}},
	{"C7", "MX fp4 2048x8192x8192", "a5", ROW_CHECK, "blind", W_MX,
		{1, 512, 8192, 1024}, {{V_TOTAL, OPP_S, 348900, 0, 0},
		{V_BUSY_PCT, OPP_M, 90700, 0, 0}}},
	{"C7", "MX fp4 2040x8192x8100", "a5", ROW_CHECK, "blind", W_MX,
		{1, 512, 8192, 1024}, {{V_TOTAL, OPP_S, 377300, 0, 0},
		{V_BUSY_PCT, OPP_M, 83000, 0, 0}}},
};
static const size_t VALIDATE_CASES_N = sizeof(VALIDATE_CASES) / sizeof(VALIDATE_CASES[0]);

static const struct v_op VALIDATE_OPS[] = {
	{"O1", "load of 32 B", "910b2", "TLOAD", VF_LOAD, DT_F32, DT_NONE, 1, 8, 0, {1, 1, 1, 1, 8}, false, 277000, 0, false, false},
	{"O1", "load of 256 B", "910b2", "TLOAD", VF_LOAD, DT_F32, DT_NONE, 1, 64, 0, {1, 1, 1, 1, 64}, false, 336000, 0, false, false},
	{"O1", "store of 256 B", "910b2", "TSTORE", VF_STORE, DT_F32, DT_NONE, 1, 64, 0, {1, 1, 1, 1, 64}, false, 337000, 376000, false, false},
	{"O1", "vadd of one repeat", "910b2", "TADD", VF_TWO, DT_F32, DT_NONE, 1, 64, 0, {0, 0, 0, 0, 0}, false, 23000, 0, false, false},
	{"O2", "TABS f32 64x64", "910b3", "TABS", VF_PLAIN, DT_F32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 68000, 0, true, false},
	{"O2", "TABS f16 16x256", "910b3", "TABS", VF_PLAIN, DT_F16, DT_NONE, 16, 256, 0, {0, 0, 0, 0, 0}, false, 36000, 0, false, false},
	{"O2", "TADD f32 64x64", "910b3", "TADD", VF_TWO, DT_F32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 160000, 0, true, false},
	{"O2", "TADD i32 64x64", "910b3", "TADD", VF_TWO, DT_I32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 151000, 0, false, false},
	{"O2", "TADD f16 16x256", "910b3", "TADD", VF_TWO, DT_F16, DT_NONE, 16, 256, 0, {0, 0, 0, 0, 0}, false, 92000, 0, true, false},
	{"O2", "TADD i16 64x64", "910b3", "TADD", VF_TWO, DT_I16, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 167000, 0, false, false},
	{"O2", "TADDS f32 32x64", "910b3", "TADDS", VF_SCALAR, DT_F32, DT_NONE, 32, 64, 0, {0, 0, 0, 0, 0}, false, 57000, 0, true, false},
	{"O2", "TADDS f16 63x64", "910b3", "TADDS", VF_SCALAR, DT_F16, DT_NONE, 63, 64, 0, {0, 0, 0, 0, 0}, false, 69000, 0, false, false},
	{"O2", "TADDS i32 31x128", "910b3", "TADDS", VF_SCALAR, DT_I32, DT_NONE, 31, 128, 0, {0, 0, 0, 0, 0}, false, 70000, 0, true, false},
	{"O2", "TADDS i16 15x192", "910b3", "TADDS", VF_SCALAR, DT_I16, DT_NONE, 15, 192, 0, {0, 0, 0, 0, 0}, false, 40000, 0, false, false},
	{"O2", "TADDS f32 7x448", "910b3", "TADDS", VF_SCALAR, DT_F32, DT_NONE, 7, 448, 0, {0, 0, 0, 0, 0}, false, 77000, 0, true, false},
	{"O2", "TADDS f32 256x16", "910b3", "TADDS", VF_SCALAR, DT_F32, DT_NONE, 256, 16, 0, {0, 0, 0, 0, 0}, false, 266000, 0, false, false},
	{"O2", "TCOLMAX f32 64x64", "910b3", "TCOLMAX", VF_COLRED, DT_F32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 2589000, 0, true, false},
	{"O2", "TCOLMAX f16 64x64", "910b3", "TCOLMAX", VF_COLRED, DT_F16, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 2713000, 0, false, false},
	{"O2", "TCOLMAX i16 64x64", "910b3", "TCOLMAX", VF_COLRED, DT_I16, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 454000, 0, true, false},
	{"O2", "TCOLMAX f16 16x256", "910b3", "TCOLMAX", VF_COLRED, DT_F16, DT_NONE, 16, 256, 0, {0, 0, 0, 0, 0}, false, 102000, 0, false, false},
	{"O2", "TCOLMAX f32 1x3072", "910b3", "TCOLMAX", VF_COLRED, DT_F32, DT_NONE, 1, 3072, 0, {0, 0, 0, 0, 0}, false, 390000, 0, true, false},
	{"O2", "TCOLSUM f32 64x64", "910b3", "TCOLSUM", VF_COLRED, DT_F32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 1263000, 0, false, false},
	{"O2", "TCOLSUM f32 1x3072", "910b3", "TCOLSUM", VF_COLRED, DT_F32, DT_NONE, 1, 3072, 0, {0, 0, 0, 0, 0}, false, 390000, 0, true, false},
	{"O2", "TCOLSUM f16 16x256", "910b3", "TCOLSUM", VF_COLRED, DT_F16, DT_NONE, 16, 256, 0, {0, 0, 0, 0, 0}, false, 101000, 0, false, false},
	{"O2", "TCVT f32 to f16 4x64", "910b3", "TCVT", VF_CVT, DT_F16, DT_F32, 4, 64, 0, {0, 0, 0, 0, 0}, false, 33000, 0, true, false},
	{"O2", "TCVT f16 to f32 4x64", "910b3", "TCVT", VF_CVT, DT_F32, DT_F16, 4, 64, 0, {0, 0, 0, 0, 0}, false, 33000, 0, false, false},
	{"O2", "TDIV f32 64x64", "910b3", "TDIV", VF_TWO, DT_F32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 288000, 0, true, false},
	{"O2", "TDIV f16 64x64", "910b3", "TDIV", VF_TWO, DT_F16, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 304000, 0, false, false},
	{"O2", "TDIVS f32 32x64", "910b3", "TDIVS", VF_SCALAR, DT_F32, DT_NONE, 32, 64, 0, {0, 0, 0, 0, 0}, false, 205000, 0, true, false},
	{"O2", "TDIVS f16 63x64", "910b3", "TDIVS", VF_SCALAR, DT_F16, DT_NONE, 63, 64, 0, {0, 0, 0, 0, 0}, false, 328000, 0, false, false},
	{"O2", "TEXP f32 64x64", "910b3", "TEXP", VF_PLAIN, DT_F32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 159000, 0, true, false},
	{"O2", "TEXP f16 64x64", "910b3", "TEXP", VF_PLAIN, DT_F16, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 95000, 0, false, false},
	{"O2", "TEXP f16 32x32", "910b3", "TEXP", VF_PLAIN, DT_F16, DT_NONE, 32, 32, 0, {0, 0, 0, 0, 0}, false, 47000, 0, true, false},
	{"O2", "TEXP f32 32x32", "910b3", "TEXP", VF_PLAIN, DT_F32, DT_NONE, 32, 32, 0, {0, 0, 0, 0, 0}, false, 63000, 0, false, false},
	{"O2", "TEXP f32 32x16", "910b3", "TEXP", VF_PLAIN, DT_F32, DT_NONE, 32, 16, 0, {0, 0, 0, 0, 0}, false, 30000, 0, true, false},
	{"O2", "TMINS f32 64x64", "910b3", "TMINS", VF_SCALAR, DT_F32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 87000, 0, true, false},
	{"O2", "TMINS i32 64x64", "910b3", "TMINS", VF_SCALAR, DT_I32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 68000, 0, false, false},
	{"O2", "TMINS i16 64x64", "910b3", "TMINS", VF_SCALAR, DT_I16, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 70000, 0, true, false},
	{"O2", "TMINS f16 64x64", "910b3", "TMINS", VF_SCALAR, DT_F16, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 55000, 0, false, false},
	{"O2", "TMINS f16 16x256", "910b3", "TMINS", VF_SCALAR, DT_F16, DT_NONE, 16, 256, 0, {0, 0, 0, 0, 0}, false, 40000, 0, true, false},
	{"O2", "TMUL f32 64x64", "910b3", "TMUL", VF_TWO, DT_F32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 168000, 0, false, false},
	{"O2", "TMUL i32 64x64", "910b3", "TMUL", VF_TWO, DT_I32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 152000, 0, true, false},
	{"O2", "TMUL f16 16x256", "910b3", "TMUL", VF_TWO, DT_F16, DT_NONE, 16, 256, 0, {0, 0, 0, 0, 0}, false, 96000, 0, false, false},
	{"O2", "TMUL i16 64x64", "910b3", "TMUL", VF_TWO, DT_I16, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 168000, 0, true, false},
	{"O2", "TMULS f32 32x64", "910b3", "TMULS", VF_SCALAR, DT_F32, DT_NONE, 32, 64, 0, {0, 0, 0, 0, 0}, false, 58000, 0, false, false},
	{"O2", "TMULS f16 63x64", "910b3", "TMULS", VF_SCALAR, DT_F16, DT_NONE, 63, 64, 0, {0, 0, 0, 0, 0}, false, 69000, 0, true, false},
	{"O2", "TMULS i32 31x128", "910b3", "TMULS", VF_SCALAR, DT_I32, DT_NONE, 31, 128, 0, {0, 0, 0, 0, 0}, false, 70000, 0, false, false},
	{"O2", "TMULS i16 15x192", "910b3", "TMULS", VF_SCALAR, DT_I16, DT_NONE, 15, 192, 0, {0, 0, 0, 0, 0}, false, 40000, 0, true, false},
	{"O2", "TMULS f32 7x448", "910b3", "TMULS", VF_SCALAR, DT_F32, DT_NONE, 7, 448, 0, {0, 0, 0, 0, 0}, false, 77000, 0, false, false},
	{"O2", "TMULS f32 256x16", "910b3", "TMULS", VF_SCALAR, DT_F32, DT_NONE, 256, 16, 0, {0, 0, 0, 0, 0}, false, 266000, 0, true, false},
	{"O2", "TROWEXPAND f32 64x64", "910b3", "TROWEXPAND", VF_PLAIN, DT_F32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 933000, 0, false, false},
	{"O2", "TROWEXPAND f16 64x64", "910b3", "TROWEXPAND", VF_PLAIN, DT_F16, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 933000, 0, true, false},
	{"O2", "TROWMAX f32 64x64", "910b3", "TROWMAX", VF_REDUCE, DT_F32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 480000, 0, false, false},
	{"O2", "TROWMAX f16 64x128", "910b3", "TROWMAX", VF_REDUCE, DT_F16, DT_NONE, 64, 128, 0, {0, 0, 0, 0, 0}, false, 481000, 0, true, false},
	{"O2", "TROWSUM f32 64x64", "910b3", "TROWSUM", VF_REDUCE, DT_F32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 492000, 0, false, false},
	{"O2", "TROWSUM f16 64x128", "910b3", "TROWSUM", VF_REDUCE, DT_F16, DT_NONE, 64, 128, 0, {0, 0, 0, 0, 0}, false, 495000, 0, true, false},
	{"O2", "TRSQRT f16 64x64", "910b3", "TRSQRT", VF_PLAIN, DT_F16, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 58000, 0, false, false},
	{"O2", "TSEL f16 4x128", "910b3", "TSEL", VF_SEL, DT_F16, DT_NONE, 4, 128, 0, {0, 0, 0, 0, 0}, false, 67000, 0, true, false},
	{"O2", "TSEL f16 1x128", "910b3", "TSEL", VF_SEL, DT_F16, DT_NONE, 1, 128, 0, {0, 0, 0, 0, 0}, false, 19000, 0, false, false},
	{"O2", "TSEL f32 4x64", "910b3", "TSEL", VF_SEL, DT_F32, DT_NONE, 4, 64, 0, {0, 0, 0, 0, 0}, false, 67000, 0, true, false},
	{"O2", "TSQRT f32 64x64 in place", "910b3", "TSQRT", VF_PLAIN, DT_F32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 198000, 0, false, false},
	{"O2", "TSQRT f32 64x64", "910b3", "TSQRT", VF_PLAIN, DT_F32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 160000, 0, true, false},
	{"O2", "TSQRT f16 64x64 in place", "910b3", "TSQRT", VF_PLAIN, DT_F16, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 102000, 0, false, false},
	{"O2", "TSQRT f16 64x64", "910b3", "TSQRT", VF_PLAIN, DT_F16, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 160000, 0, true, false},
	{"O2", "TSUB f32 64x64", "910b3", "TSUB", VF_TWO, DT_F32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 153000, 0, false, false},
	{"O2", "TSUB i32 64x64", "910b3", "TSUB", VF_TWO, DT_I32, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 132000, 0, true, false},
	{"O2", "TSUB f16 16x256", "910b3", "TSUB", VF_TWO, DT_F16, DT_NONE, 16, 256, 0, {0, 0, 0, 0, 0}, false, 68000, 0, false, false},
	{"O2", "TSUB i16 64x64", "910b3", "TSUB", VF_TWO, DT_I16, DT_NONE, 64, 64, 0, {0, 0, 0, 0, 0}, false, 170000, 0, true, false},
	{"O2", "TTRANS f32 128x128", "910b3", "TTRANS", VF_PLAIN, DT_F32, DT_NONE, 128, 128, 0, {0, 0, 0, 0, 0}, false, 501000, 0, true, false},
	{"O2", "TLOAD f32 128x128, dma_serial", "910b3", "TLOAD", VF_LOAD, DT_F32, DT_NONE, 128, 128, 0, {1, 1, 1, 128, 128}, false, 776000, 0, true, true},
	{"O2", "TLOAD f32 8 x (32x64), dma_serial", "910b3", "TLOAD", VF_LOAD, DT_F32, DT_NONE, 256, 64, 0, {2, 2, 2, 32, 64}, false, 2624000, 0, true, true},
	{"O2", "TLOAD f32 128x127, dma_serial", "910b3", "TLOAD", VF_LOAD, DT_F32, DT_NONE, 128, 128, 127, {1, 1, 1, 128, 127}, false, 773000, 0, true, true},
	{"O2", "TLOAD i16 128x127, dma_serial", "910b3", "TLOAD", VF_LOAD, DT_I16, DT_NONE, 128, 128, 127, {1, 1, 1, 128, 127}, false, 519000, 0, true, true},
	{"O2", "TLOAD u8 128x127, dma_serial", "910b3", "TLOAD", VF_LOAD, DT_U8, DT_NONE, 128, 128, 127, {1, 1, 1, 128, 127}, false, 392000, 0, true, true},
	{"O2", "TLOAD i16 32 x (2x128), dma_serial", "910b3", "TLOAD", VF_LOAD, DT_I16, DT_NONE, 64, 128, 0, {1, 1, 32, 2, 128}, false, 8576000, 0, true, true},
	{"O2", "TLOAD f32 256x60 in 8 parts, dma_serial", "910b3", "TLOAD", VF_LOAD, DT_F32, DT_NONE, 256, 64, 60, {2, 2, 2, 32, 60}, false, 2497000, 0, true, true},
	{"O2", "TLOAD f32 DN 64x128 in 32 parts, dma_serial", "910b3", "TLOAD", VF_LOAD, DT_F32, DT_NONE, 64, 128, 0, {1, 1, 32, 64, 4}, true, 8704000, 0, true, true},
	{"O2", "TLOAD f32 DN 255x60 in 8 parts, dma_serial", "910b3", "TLOAD", VF_LOAD, DT_F32, DT_NONE, 255, 64, 60, {2, 2, 2, 255, 8}, true, 8352000, 0, true, true},
};
static const size_t VALIDATE_OPS_N = sizeof(VALIDATE_OPS) / sizeof(VALIDATE_OPS[0]);

/* clang-format on */

/* --- the comparison --------------------------------------------------------------------------- */

#define MAX_RUNS 64

struct run { /* a kernel that was timed */
	enum v_work work;
	int64_t par[5];
	const char *profile;
	uint64_t total, busy[ENGINE_PIPES], n_ops[ENGINE_PIPES];
};

struct validate_job {
	const struct validate_options *o;
	struct validate_result *out;
	struct incore_error *e;
	char *dir; /* of the recorder */
	struct run runs[MAX_RUNS];
	unsigned n_runs;
};

const char *validate_role_name(enum validate_role r)
{
	static const char *const names[ROW_ROLES] = {"FIT", "CHECK", "OP"};

	return (unsigned)r < ROW_ROLES ? names[r] : "?";
}

/* --- kernels --- */

static bool put_args(const struct v_case *v, struct strbuf *w)
{
	const int64_t *p = v->par;
	long long a = p[0], b = p[1], c = p[2], d = p[3], m = p[4] / 100, n = p[4] % 100;

	switch (v->work) {
	case W_VECTOR_ADD: /* repeats, adds, buffers, tiles */
		return sb_printf(w,
			"0=f16[%lld] 1=f16[%lld] 2=f16[%lld]:out 3=i64:%lld 4=i64:%lld 5=i64:%lld 6=i64:%lld",
			a * d * 128, a * d * 128, a * d * 128, a, b, c, d);
	case W_GEMM: /* M blocks, N blocks, K steps, row of C */
		return sb_printf(w,
			"0=f16[%lld,%lld] 1=f16[%lld,%lld] 2=f32[%lld,%lld]:out 3=i64:%lld 4=i64:%lld 5=i64:%lld 6=i64:%lld",
			a * 128, c * 64, b * 256, c * 64, a * 128, d, a, b, c, d);
	case W_CONV: /* c1, h, w, n, blocks */
		return sb_printf(w,
			"0=f16[%lld,%lld,%lld,16] 1=f16[%lld,%lld,16,16] 2=f16[%lld,%lld]:out 3=i64:%lld 4=i64:%lld 5=i64:%lld 6=i64:%lld 7=i64:%lld 8=i64:%lld",
			a, b, c, 9 * a, d / 16, m * 128, d, a, b, c, d, m, n);
	case W_TOPK: /* rows, half */
		return sb_printf(w,
			"0=%s[%lld,1280] 1=u32[1024] 2=%s[%lld,%d]:out 3=u32[%lld,%d]:out 4=i64:%lld 5=i64:%lld",
			b ? "f16" : "f32", a, b ? "f16" : "f32", a, b ? 1008 : 1000, a,
			b ? 1008 : 1000, a, b);
	default: /* fp4, M, K, N */
		return sb_printf(w,
			"0=u8[%lld,%lld] 1=u8[%lld,%lld] 2=u8[%lld,%lld] 3=u8[%lld,%lld] 4=bf16[%lld,%lld]:out 5=i64:%lld 6=i64:%lld 7=i64:%lld 8=i64:%lld",
			b, a ? c / 2 : c, d, a ? c / 2 : c, b, c / 32, c / 32, d, b, d, a, b, c, d);
	}
}

static bool read_args(const struct v_case *v, struct args *spec, struct incore_error *e)
{
	struct strbuf words = {0};
	bool ok = put_args(v, &words) || err_nomem(e);

	for (char *at = words.p; ok && at && *at;) {
		char *end = strchr(at, ' ');

		if (end)
			*end++ = 0;
		ok = args_add_word(spec, at, e);
		at = end ? end : at + strlen(at);
	}
	sb_free(&words);
	return ok;
}

static bool record(struct validate_job *j, const struct v_case *v, struct opstream_set *set)
{
	static const char *const files[W_COUNT] = {"validate/vector_add.cpp", "validate/gemm.cpp",
		"validate/conv2d.cpp", "validate/topk.cpp", "validate/mx_matmul.cpp"};
	bool is_aiv = v->work == W_VECTOR_ADD || v->work == W_TOPK;
	struct args spec;
	struct record_options o = {.arch = v->work == W_MX ? ARCH_A5 : ARCH_A2A3,
		.cores = is_aiv ? KERNEL_ON_AIV : KERNEL_ON_AIC,
		.blocks = 1,
		.args = &spec,
		.recorder_dir = j->o->recorder_dir,
		.cache_dir = j->o->cache_dir,
		.compiler = j->o->compiler,
		.is_unsafe = j->o->is_unsafe};
	struct record_info info;
	char *path = path_join(j->dir, files[v->work]);
	bool ok = path || err_nomem(j->e);

	args_init(&spec);
	o.kernel = path;
	ok = ok && read_args(v, &spec, j->e) && record_kernel(&o, set, &info, j->e);
	args_deinit(&spec);
	mem_free(path);
	return ok;
}

static bool load_profile(struct validate_job *j, const char *name, struct profile *p)
{
	enum opstream_arch arch = strcmp(name, "a5") == 0 ? ARCH_A5 : ARCH_A2A3;

	if (j->o->profile) {
		if (!profile_load(p, j->o->profile, arch, j->e))
			return false;
		if (p->arch == arch)
			return true;
		profile_deinit(p);
	}
	return profile_load(p, name, arch, j->e);
}

/* Number of cores that ran it, and the share of a core's first reads that no other core has made:
 * from the grids of the published kernels. */
static unsigned put_load(const struct v_case *v, uint16_t cold_permille[OPSTREAM_SLOTS])
{
	for (unsigned i = 0; i < OPSTREAM_SLOTS; i++)
		cold_permille[i] = 1000;
	if (v->work == W_VECTOR_ADD)
		return v->par[4] ? (unsigned)v->par[4] : 1;
	if (v->work == W_TOPK)
		return 48;
	cold_permille[0] = 1000 / 6; /* in the 4 x 6 grid a row reads the same rows of A */
	cold_permille[1] = 1000 / 4;
	return 24;
}

static bool time_case(struct validate_job *j, const struct v_case *v, struct run *r)
{
	uint16_t cold_permille[OPSTREAM_SLOTS];
	struct profile p;
	struct engine_options o = {.profile = &p,
		.find_races = true,
		.active_permille = 1000 * put_load(v, cold_permille),
		.cold_permille = cold_permille};
	struct opstream_set set;
	struct timed t;
	uint64_t before_ns;
	bool ok;

	if (!load_profile(j, v->profile, &p))
		return false;
	opstream_set_init(&set);
	ok = record(j, v, &set);
	before_ns = clock_ns();
	ok = ok && engine_run(&set, &o, &t, j->e);
	if (ok) {
		const struct timed_core *c = &t.cores.v[0];

		j->out->engine_us += (clock_ns() - before_ns) / 1000;
		j->out->n_kernels++;
		j->out->n_ops += t.n_ops;
		j->out->n_findings += t.findings.n;
		r->total = c->end_cyc;
		if (v->work != W_VECTOR_ADD) /* its published totals start with the task */
			r->total += (uint64_t)p.k[K_TASK_LAUNCH].e4 / PROF_ONE;
		r->profile = arena_strdup(&j->out->arena, p.name);
		for (unsigned i = 0; i < ENGINE_PIPES; i++) {
			r->busy[i] = c->lanes[i].busy_cyc;
			r->n_ops[i] = c->lanes[i].n_ops;
		}
		timed_deinit(&t);
	}
	opstream_set_deinit(&set);
	profile_deinit(&p);
	return ok && (r->profile || err_nomem(j->e));
}

/* Rows of one kernel share its run. */
static const struct run *run_of(struct validate_job *j, const struct v_case *v)
{
	struct run *r;

	for (unsigned i = 0; i < j->n_runs; i++)
		if (j->runs[i].work == v->work &&
			memcmp(j->runs[i].par, v->par, sizeof(v->par)) == 0)
			return &j->runs[i];
	if (j->n_runs == MAX_RUNS) {
		err_set(j->e, INCORE_FAILED, "internal", "too many kernels");
		return NULL;
	}
	if (j->o->progress)
		j->o->progress(j->o->progress_ctx, v->id);
	r = &j->runs[j->n_runs];
	if (!time_case(j, v, r))
		return NULL;
	r->work = v->work;
	memcpy(r->par, v->par, sizeof(v->par));
	j->n_runs++;
	return r;
}

/* --- rows --- */

static bool add_row(struct validate_job *j, struct validate_row r)
{
	int64_t base = r.estimate < r.published ? r.published : r.published_to;

	if (!(r.estimate >= r.published && r.estimate <= r.published_to) && base > 0)
		r.error_permille = (int64_t)(((__int128)(r.estimate - base) * 2000 +
						     (r.estimate < base ? -base : base)) /
					     ((__int128)2 * base));
	r.is_met = true;
	if (r.gate_permille) {
		int64_t off = r.error_permille < 0 ? -r.error_permille : r.error_permille;

		r.is_met = off <= (int64_t)r.gate_permille;
		j->out->n_gates++;
		j->out->n_missed += !r.is_met;
	}
	return VEC_PUSH(&j->out->rows, r) || err_nomem(j->e);
}

static int64_t thousandths(uint64_t num, uint64_t den)
{
	return den ? (int64_t)(((unsigned __int128)num * 1000 + den / 2) / den) : 0;
}

static uint64_t clock_of(struct validate_job *j, const char *name)
{
	struct profile p;
	uint64_t mhz_e4;

	if (!load_profile(j, name, &p))
		return 0;
	mhz_e4 = (uint64_t)p.k[K_CLOCK_MHZ].e4;
	profile_deinit(&p);
	return mhz_e4;
}

static int64_t measure(const struct v_measure *m, const struct run *r, uint64_t mhz_e4)
{
	switch (m->kind) {
	case V_TOTAL:
		return thousandths(r->total * PROF_ONE, mhz_e4);
	case V_BUSY_US:
		return thousandths(r->busy[m->pipe] * PROF_ONE, mhz_e4);
	case V_BUSY_PCT:
		return thousandths(r->busy[m->pipe] * 100, r->total);
	default:
		return thousandths(r->busy[m->pipe], r->n_ops[m->pipe]);
	}
}

static const char *what_of(const struct v_measure *m)
{
	static const char *const busy[ENGINE_PIPES] = {"SCALAR busy", "V busy", "MTE1 busy",
		"MTE2 busy", "MTE3 busy", "cube busy", "", "FIX busy"};

	return m->kind == V_TOTAL	  ? "total"
	       : m->kind == V_BUSY_PER_OP ? "V busy per op"
					  : busy[m->pipe];
}

static bool add_case(struct validate_job *j, const struct v_case *v)
{
	const struct run *r = run_of(j, v);
	uint64_t mhz_e4 = r ? clock_of(j, v->profile) : 0;

	if (!r || !mhz_e4)
		return false;
	for (unsigned i = 0; i < sizeof(v->m) / sizeof(v->m[0]) && v->m[i].kind != V_END; i++) {
		const struct v_measure *m = &v->m[i];
		struct validate_row row = {.id = v->id,
			.name = v->name,
			.what = what_of(m),
			.unit = m->kind == V_BUSY_PCT	   ? "%"
				: m->kind == V_BUSY_PER_OP ? "cyc"
							   : "us",
			.profile = r->profile,
			.role = v->role,
			.remark = v->remark,
			.published = m->from,
			.published_to = m->to ? m->to : m->from,
			.estimate = measure(m, r, mhz_e4),
			.gate_permille = m->gate};

		if (!add_row(j, row))
			return false;
	}
	return true;
}

/* --- single ops --- */

static struct op_opnd *tile(struct op_desc *d, enum op_role role, enum op_dtype t, uint32_t rows,
	uint32_t cols, uint32_t vcols)
{
	struct op_opnd *o = op_desc_tile(d, role, t, rows, cols, UINT64_C(0x10000) * d->n_opnds);

	OPND_VCOL(o) = vcols ? vcols : cols;
	return o;
}

static struct op_desc desc_of(const struct v_op *v)
{
	bool is_dma = v->form == VF_LOAD || v->form == VF_STORE;
	struct op_desc d = op_desc_of(OPK_OP,
		v->form == VF_LOAD    ? OPP_MTE2
		: v->form == VF_STORE ? OPP_MTE3
				      : OPP_V,
		v->op, 1);
	unsigned n_src = v->form == VF_TWO ? 2 : v->form == VF_SEL ? 3 : 1;

	if (v->form == VF_STORE)
		op_desc_gm(&d, ROLE_DST, v->dtype, v->gm, 0, 0);
	else
		tile(&d, ROLE_DST, v->dtype, v->form == VF_COLRED ? 1 : v->rows,
			v->form == VF_REDUCE ? 8 : v->cols, v->form == VF_REDUCE ? 1 : v->vcols);
	if (v->form == VF_LOAD)
		op_desc_gm(&d, ROLE_SRC, v->dtype, v->gm, 0, 0)->layout =
			v->is_dn ? LAYOUT_DN : LAYOUT_ND;
	if (v->form == VF_STORE)
		tile(&d, ROLE_SRC, v->dtype, v->rows, v->cols, v->vcols);
	for (unsigned i = 0; !is_dma && i < n_src; i++)
		tile(&d, ROLE_SRC, v->form == VF_CVT ? v->from : v->dtype, v->rows, v->cols,
			v->vcols);
	if (v->form == VF_SCALAR)
		op_desc_scalar(&d, ROLE_VALUE, 0);
	return d;
}

static bool add_op(struct validate_job *j, const struct v_op *v)
{
	struct validate_row row = {.id = v->id,
		.name = "single op",
		.what = v->name,
		.unit = "cyc",
		.role = ROW_OP,
		.remark = v->may_fit	    ? "F"
			  : v->id[1] == '2' ? "C"
					    : "",
		.published = v->cyc,
		.published_to = v->cyc_to ? v->cyc_to : v->cyc};
	struct op_desc d = desc_of(v);
	struct opstream_set set;
	struct opstream *s;
	struct profile p;
	struct timed t;
	bool ok;

	if (!load_profile(j, v->profile, &p))
		return false;
	p.dma_serial = p.dma_serial || v->is_serial;
	opstream_set_init(&set);
	s = opstream_set_new(&set, j->e);
	ok = s && opstream_push(s, &d, j->e) && opstream_seal(s, j->e);
	if (ok)
		s->core = CORE_AIV;
	ok = ok && engine_run(&set, &(struct engine_options){.profile = &p, .keep_slices = true},
			   &t, j->e);
	if (ok) {
		row.profile = arena_strdup(&j->out->arena, p.name);
		row.estimate = (int64_t)t.cores.v[0].lanes[d.form.pipe].slices.v[0].dur * 1000;
		timed_deinit(&t);
		ok = row.profile ? add_row(j, row) : err_nomem(j->e);
	}
	opstream_set_deinit(&set);
	profile_deinit(&p);
	return ok;
}

/* --- flags of a single hand-over --- */

static bool add_flag_rows(struct validate_job *j)
{
	struct profile p;
	int64_t set, wait;

	if (!load_profile(j, "910b2", &p))
		return false;
	set = p.k[K_FLAG_SET].e4 / (PROF_ONE / 1000);
	wait = p.k[K_FLAG_WAIT].e4 / (PROF_ONE / 1000);
	profile_deinit(&p);
	return add_row(j, (struct validate_row){"O1", "single op", "SET", "cyc", "910b2", ROW_OP,
				  "", 1000, 1000, set, 0, 0, true}) &&
	       add_row(j, (struct validate_row){"O1", "single op", "WAIT", "cyc", "910b2", ROW_OP,
				  "", 1000, 1000, wait, 0, 0, true}) &&
	       add_row(j, (struct validate_row){"O1", "single op", "MTE2 to V hand-over", "cyc",
				  "910b2", ROW_OP, "", 7000, 7000, set + wait, 0, 0, true});
}

/* --- all --- */

static bool find_recorder(struct validate_job *j)
{
	struct record_options o = {.recorder_dir = j->o->recorder_dir,
		.cache_dir = j->o->cache_dir,
		.compiler = j->o->compiler,
		.is_unsafe = j->o->is_unsafe};
	struct record_tools t = {0};
	bool ok = record_tools_find(&t, &o, j->e);

	if (ok) {
		j->dir = mem_strndup(t.recorder_dir, strlen(t.recorder_dir));
		ok = j->dir || err_nomem(j->e);
		record_tools_free(&t);
	}
	return ok;
}

bool validate_run(
	const struct validate_options *o, struct validate_result *out, struct incore_error *e)
{
	struct validate_job *j = mem_zalloc(1, sizeof(*j));
	bool ok;

	*out = (struct validate_result){0};
	arena_init(&out->arena);
	if (!j)
		return err_nomem(e);
	*j = (struct validate_job){.o = o, .out = out, .e = e};
	ok = o->ops_only || find_recorder(j);
	for (size_t i = 0; ok && !o->ops_only && i < VALIDATE_CASES_N; i++)
		ok = add_case(j, &VALIDATE_CASES[i]) ||
		     err_wrap(e, "row %s, %s", VALIDATE_CASES[i].id, VALIDATE_CASES[i].name);
	ok = ok && add_flag_rows(j);
	for (size_t i = 0; ok && i < VALIDATE_OPS_N; i++)
		ok = add_op(j, &VALIDATE_OPS[i]);
	mem_free(j->dir);
	mem_free(j);
	if (!ok)
		validate_deinit(out);
	return ok;
}

void validate_deinit(struct validate_result *r)
{
	VEC_FREE(&r->rows);
	arena_deinit(&r->arena);
}
