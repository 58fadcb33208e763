/* SPDX-License-Identifier: Apache-2.0 */
/* gfx10, gfx11, gfx12 and MI400 thread traces: bits in, records out, token by token. */
#include "sqtt_bytes.h"

/* Target SIMD 0 of WGP 0; dp field 1 (one cycle). */
static void begin(struct sqtt_bytes *b, unsigned version)
{
	memset(b, 0, sizeof(*b));
	put(b, 0x11 | version << 7 | 1u << 28, 64);
}

static void begin_exbar(struct sqtt_bytes *b)
{
	memset(b, 0, sizeof(*b));
	put(b, 0x11 | 4u << 7 | 1u << 28 | (uint64_t)1 << 59, 64);
}

static bool is_gfx12(const struct sqtt_bytes *b)
{
	return (b->p[0] >> 7 | (b->p[1] & 0x1f) << 1) >= 4;
}

static void reg(struct sqtt_bytes *b, bool is_cs, unsigned addr, uint32_t data)
{
	put(b, 9 | is_cs << 15 | (uint64_t)addr << 16 | (uint64_t)data << 32, 64);
}

static void start(struct sqtt_bytes *b, unsigned delta, unsigned wave, unsigned count)
{
	put(b, 0x0c | delta << 5 | wave << (is_gfx12(b) ? 15 : 13) | count << 25, 32);
}

static void end(struct sqtt_bytes *b, unsigned delta, unsigned wave)
{
	put(b, 0x15 | delta << 5 | wave << 15, 20);
}

static void inst(struct sqtt_bytes *b, unsigned delta, unsigned wave, unsigned code)
{
	if (is_gfx12(b))
		put(b, 2 | delta << 3 | wave << 7 | code << 12, 20);
	else
		put(b, 2 | delta << 4 | wave << 8 | code << 13, 20);
}

static void valu(struct sqtt_bytes *b, unsigned delta, unsigned wave)
{
	put(b, 3 | delta << 3 | wave << 7, 12);
}

static void imm(struct sqtt_bytes *b, unsigned delta, unsigned wave)
{
	put(b, 0xd | delta << 4 | wave << 7, 12);
}

static void ready(struct sqtt_bytes *b, unsigned delta, unsigned mask)
{
	put(b, 0x14 | delta << 5 | mask << 8, 24);
}

static void wait(struct sqtt_bytes *b, unsigned cycles) /* 4 to 19 */
{
	put(b, 8 | (cycles - 4) << 4, 8);
}

static void begin_wave(struct sqtt_bytes *b, unsigned version)
{
	begin(b, version);
	reg(b, true, 0xc, CODE_BASE >> 8);
	reg(b, true, 0xd, 0);
	start(b, 1, 0, 127);
}

/* Two starts and an instruction of a real stream, after 27119 cycles. */
static void test_sqtt_gfx10_example(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin(&b, 4);
	put(&b, 0x01 | (uint64_t)27119 << 12, 64);
	put(&b, 0xfe40000c, 32);
	put(&b, 0xfe40022c, 32);
	put(&b, 0x01 | (uint64_t)700 << 12, 64);
	put(&b, 0x01002, 20);
	assert_string_equal(decoded(&b, SQTT_RULES_C16, NULL, 0, "WO"),
		"W?0 27119-27825 [1,27820,0,1] (1,701)\nO +27119 0.0.0 0\nO +27120 0.2.0 0\n");
}

/* On gfx11 a WAVE_READY is one cycle early and comes before tokens of its own stamp. */
static void test_sqtt_gfx10_order(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	for (unsigned version = 3; version <= 4; version++) {
		begin_wave(&b, version);
		wait(&b, 10);
		ready(&b, 0, 1);
		wait(&b, 5);
		inst(&b, 2, 0, 1);
		ready(&b, 0, 1);
		inst(&b, 3, 0, 0);
		wait(&b, 6);
		end(&b, 0, 0);
		decoded(&b, SQTT_RULES_C16, NULL, 0, "W");
		assert_string_equal(b.text,
			version == 3
				? "W0 1-27 [1,17,1,2] [2,21,0,1] [11,22,0,5] (1,9)(4,8)(2,9)\n"
				: "W0 1-27 [1,11,7,8] [2,18,3,4] [11,22,0,5] (1,10)(4,10)(2,6)\n");
	}
}

static void test_sqtt_gfx10_immediates(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin_wave(&b, 4);
	start(&b, 0, 1, 127);
	wait(&b, 9);
	valu(&b, 0, 0);
	imm(&b, 4, 0);
	put(&b, 4 | 5 << 5 | 3 << 8, 24); /* IMMEDIATE of waves 0 and 1 */
	end(&b, 0, 0);
	end(&b, 1, 1);
	assert_string_equal(decoded(&b, SQTT_RULES_C16, NULL, 0, "W"),
		"W0 1-19 [6,10,0,1] [9,11,3,4] [9,15,4,5] (1,9)(2,1)(3,9)\n"
		"W1 1-20 [9,19,0,1] (1,18)(3,1)\n");
}

/* What the codes of each generation say; wave64 doubles under 0.1.6 alone. */
static void test_sqtt_gfx10_codes(void **state)
{
	static const struct {
		unsigned version, code;
		enum sqtt_rules rules;
		const char *want;
	} cases[] = {
		{1, 30, SQTT_RULES_C16, "W?0 1-8 [4,3,0,1] (1,2)\n"},
		{1, 28, SQTT_RULES_C16, "W?0 1-3 (1,0)\n"},
		{3, 46, SQTT_RULES_C16, "W?0 1-12 [5,3,0,5] (1,2)\n"},
		{3, 28, SQTT_RULES_C16, "W?0 1-9 [4,3,0,2] (1,2)\n"},
		{3, 102, SQTT_RULES_C16, "X 3 13 cycles, category 3\n"},
		{4, 140, SQTT_RULES_C16, "W?0 1-15 [6,3,0,8] (1,2)\n"},
		{4, 221, SQTT_RULES_C16, "X 3 34 cycles, category 3\n"},
		{4, 85, SQTT_RULES_C16, "X 3 2 cycles, category 5\n"},
		{4, 85, SQTT_RULES_RIGHT, "X 3 2 cycles, category 4\n"},
		{4, 106, SQTT_RULES_RIGHT, "W?0 1-19 [12,3,0,12] (1,2)\n"},
	};
	struct sqtt_bytes b;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *line;

		begin_wave(&b, cases[i].version);
		inst(&b, 2, 0, cases[i].code);
		decoded(&b, cases[i].rules, NULL, 0, "WX");
		line = cases[i].want[0] == 'X' ? strstr(b.text, "X ") : b.text;
		assert_non_null(line);
		if (strcmp(cases[i].want, "W?0 1-3 (1,0)\n") == 0)
			assert_string_equal(line, "W?0 1-3\n"); /* no such code: time passes */
		else
			assert_string_equal(line, cases[i].want);
	}
	begin_wave(&b, 3);
	put(&b, 3 | 2 << 3 | 1 << 6, 12);
	assert_string_equal(decoded(&b, SQTT_RULES_C16, NULL, 0, "W"), "W?0 1-9 [6,3,0,2] (1,2)\n");
	assert_string_equal(
		decoded(&b, SQTT_RULES_RIGHT, NULL, 0, "W"), "W?0 1-8 [6,3,0,1] (1,2)\n");
	assert_int_equal(b.res.notes[SQTT_DIFF_W64].count, 1);
}

/* gfx12 averages a sample that is not later in both clocks; gfx11 keeps every one. */
static void test_sqtt_gfx10_realtime(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin(&b, 4);
	put(&b, 0x01 | (uint64_t)100 << 12, 64);
	put(&b, 0x81 | (uint64_t)5000 << 12, 64);
	put(&b, 0x81 | (uint64_t)5003 << 12, 64);
	put(&b, 0x01 | (uint64_t)50 << 12, 64);
	put(&b, 0x81 | (uint64_t)5100 << 12, 64);
	put(&b, 0x81 | 1 << 8 | (uint64_t)9 << 12, 64); /* says nothing */
	put(&b, 0x101 | (uint64_t)9 << 12, 64);
	assert_string_equal(decoded(&b, SQTT_RULES_C16, NULL, 0, "R"), "R 100 5001\nR 150 5100\n");
	assert_true(b.res.is_lost);
	begin(&b, 3);
	put(&b, 0x01 | (uint64_t)100 << 12, 48);
	put(&b, 0x201 | (uint64_t)5000 << 12, 48);
	put(&b, 0x201 | (uint64_t)5003 << 12, 48);
	assert_string_equal(decoded(&b, SQTT_RULES_C16, NULL, 0, "R"), "R 100 5000\nR 100 5003\n");
	begin(&b, 1);
	put(&b, 0x01 | 1 << 14 | (uint64_t)100 << 16, 64);
	put(&b, 0x01 | 2 << 14 | (uint64_t)5000 << 16, 64);
	assert_string_equal(decoded(&b, SQTT_RULES_C16, NULL, 0, "R"), "R 100 5000\n");
	assert_int_equal(b.res.notes[SQTT_NOTE_UNVERIFIED].count, 1);
}

static void test_sqtt_gfx10_shaderdata(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin(&b, 3);
	put(&b, 0x06 | 3 << 5 | 1 << 8 | 2 << 9 | 5 << 11 | 9 << 15 | (uint64_t)0xdeadbeef << 20,
		52);
	put(&b, 0x16 | 1 << 14 | 7 << 20, 28); /* no lane was active */
	put(&b, 0x16 | 7 << 20, 28);
	assert_string_equal(decoded(&b, SQTT_RULES_C16, NULL, 0, "D"),
		"D 3 3735928559 133.2.9 flags 0\nD 3 7 0.0.0 flags 1\n");
	begin(&b, 4);
	put(&b,
		0x06 | 3 << 7 | 1 << 10 | 2 << 11 | 5 << 13 | 9 << 17 | (uint64_t)77 << 22 |
			(uint64_t)1 << 54,
		56);
	assert_string_equal(decoded(&b, SQTT_RULES_C16, NULL, 0, "D"), "D 3 77 133.2.9 flags 2\n");
}

static void test_sqtt_gfx10_events(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	for (unsigned version = 3; version <= 4; version++) {
		begin(&b, version);
		reg(&b, true, 0xc, CODE_BASE >> 8);
		reg(&b, true, 7, 128);
		wait(&b, 5);
		reg(&b, true, 0, 1);
		wait(&b, 5);
		put(&b, 0x61 | 1 << 11 | 1 << 14 | 2 << 16 | 0x28 << 18, 24);
		put(&b, 0x61 | 1 << 18, 24); /* an event without a name */
		put(&b, 0x51 | 1 << 20 | 1 << 21, 24);
		put(&b, 0x71 | 1 << 16 | 2 << 18 | 1 << 20, 64);
		assert_string_equal(decoded(&b, SQTT_RULES_RIGHT, NULL, 0, "E"),
			"E 5 0 me 0 pipe 0 flags 0 100000 128x0x0\n"
			"E 10 2 me 1 pipe 2 flags 2 0 0x0x0\nE 10 9 me 0 pipe 0 flags 0 0 0x0x0\n"
			"E 10 10 me 0 pipe 0 flags 0 0 0x0x0\nE 10 0 me 1 pipe 0 flags 0 0 0x0x0\n");
	}
}

/* s_mov; s_setpc; s_nop; v_mov; v_mov; s_endpgm */
static const uint32_t jumps[] = {
	0xbe800080, 0xbe804800, 0xbf800000, 0x7e000280, 0x7e020280, 0xbfb00000};

/* An address that comes after the wave's end is used; 0.1.6 goes straight on. */
static void test_sqtt_gfx10_late_address(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin_wave(&b, 3);
	inst(&b, 5, 0, 0);
	inst(&b, 5, 0, 5);
	valu(&b, 5, 0);
	end(&b, 5, 0);
	put(&b, 0x21 | (uint64_t)(CODE_BASE + 16) / 4 << 16, 64);
	assert_string_equal(decoded(&b, SQTT_RULES_RIGHT, jumps, 6, "W"),
		"W0 1-21 [2,6,0,1,0] [2,11,0,1,4] [6,16,0,1,10] [11,17,0,4,14] (1,5)(2,15)\n");
	assert_int_equal(b.res.notes[SQTT_DIFF_LATE_PC].count, 1);
	decoded(&b, SQTT_RULES_C16, jumps, 6, "W");
	assert_string_equal(b.text,
		"W0 1-21 [2,6,0,1,0] [2,11,0,1,4] [6,16,0,1,c] [11,17,0,4,14] (1,5)(2,15)\n");
}

/* s_mov; s_barrier_signal; s_barrier_wait; v_mov; s_mov; s_endpgm */
static const uint32_t barrier[] = {
	0xbe800080, 0xbe804ec1, 0xbf94ffff, 0x7e000280, 0xbe810080, 0xbfb00000};

/* The immediate is the barrier wait's own; 0.1.6 takes it for v_mov's and loses what follows. */
static void test_sqtt_gfx10_barrier_wait(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin_exbar(&b);
	reg(&b, true, 0xc, CODE_BASE >> 8);
	start(&b, 1, 0, 127);
	inst(&b, 5, 0, 0);
	inst(&b, 5, 0, 122);
	imm(&b, 5, 0);
	valu(&b, 5, 0);
	inst(&b, 5, 0, 0);
	end(&b, 5, 0);
	assert_string_equal(decoded(&b, SQTT_RULES_RIGHT, barrier, 6, "W"),
		"W0 1-31 [2,6,0,1,0] [11,11,0,1,4] [9,12,4,5,8] [6,21,0,1,c] [2,26,0,1,10] "
		"[11,27,0,4,14] (1,5)(2,6)(3,5)(2,14)\n");
	assert_int_equal(b.res.notes[SQTT_DIFF_BARRIER_WAIT].count, 1);
	decoded(&b, SQTT_RULES_C16, barrier, 6, "W");
	assert_string_equal(b.text,
		"W0 1-31 [2,6,0,1,0] [11,11,0,1,4] [9,12,0,1,8] [9,13,4,4,c] [6,21,0,1] [2,26,0,1] "
		"[11,27,0,4] (1,5)(2,6)(3,0)(3,1)(3,4)(2,14)\n");
}

/* The hardware left the wait out: it is put back between its neighbours. */
static void test_sqtt_gfx10_barrier_gap(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin_exbar(&b);
	reg(&b, true, 0xc, CODE_BASE >> 8);
	start(&b, 1, 0, 127);
	inst(&b, 5, 0, 0);
	inst(&b, 5, 0, 122);
	wait(&b, 9);
	valu(&b, 0, 0);
	inst(&b, 5, 0, 0);
	end(&b, 5, 0);
	assert_string_equal(decoded(&b, SQTT_RULES_RIGHT, barrier, 6, "W"),
		"W0 1-30 [2,6,0,1,0] [11,11,0,1,4] [9,12,0,8,8] [6,20,0,1,c] [2,25,0,1,10] "
		"[11,26,0,4,14] (1,5)(2,6)(3,8)(2,10)\n");
}

static void test_sqtt_gfx10_starts(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin_wave(&b, 4);
	put(&b, 0x1c | 1 << 5 | 3 << 15 | 100u << 25, 40); /* WAVE_START_EXT, extended twice */
	put(&b, 0x01, 8);
	put(&b, 0x03, 8);
	wait(&b, 4);
	end(&b, 2, 3);
	end(&b, 0, 9); /* never started */
	decoded(&b, SQTT_RULES_RIGHT, NULL, 0, "O");
	assert_string_equal(b.text, "O +1 0.0.0 100000\nO +2 0.0.3 100000\nO -8 0.0.3 100000\nO -8 "
				    "0.0.9 0\nO +0 0.0.9 0\n");
	assert_int_equal(b.res.notes[SQTT_DIFF_START_EXT].count, 1);
	assert_string_equal(decoded(&b, SQTT_RULES_C16, NULL, 0, "O"), "O +1 0.0.0 100000\n");
}

/* MI400, from text alone: byte tokens, VALU by the place of the wave in a list. */
static void test_sqtt_gfx10_mi400(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin(&b, 5);
	put(&b, 0x0c | 1 << 5 | 2 << 15 | 127u << 25, 32);
	put(&b, 0x02 | 3 << 4 | 2 << 7 | 10 << 12, 24);
	put(&b, 0x03 | 2 << 4, 8);
	put(&b, 0x41 | 5 << 7 | 2 << 17, 24);
	assert_string_equal(decoded(&b, SQTT_RULES_RIGHT, NULL, 0, "W"),
		"W2 1-12 [6,4,0,1] [6,7,0,1] [11,8,0,4] (1,3)(2,8)\n");
	assert_int_equal(b.res.notes[SQTT_NOTE_UNVERIFIED].count, 1);
}

/* A scale load is no instruction of its own: the next one is a cycle earlier and longer. */
static void test_sqtt_gfx10_mi400_scale(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin(&b, 5);
	put(&b, 0x0c | 1 << 5 | 2 << 15 | 127u << 25, 32);
	put(&b, 0x02 | 3 << 4 | 2 << 7 | 183 << 12, 24);
	put(&b, 0x02 | 3 << 4 | 2 << 7 | 10 << 12, 24);
	put(&b, 0x02 | 3 << 4 | 2 << 7 | 10 << 12, 24);
	put(&b, 0x41 | 5 << 7 | 2 << 17, 24);
	assert_string_equal(decoded(&b, SQTT_RULES_RIGHT, NULL, 0, "W"),
		"W2 1-15 [6,6,0,2] [6,10,0,1] [11,11,0,4] (1,6)(2,8)\n");
}

static void test_sqtt_gfx10_cut_anywhere(void **state)
{
	struct sqtt_bytes b, cut;

	(void)state;
	for (unsigned version = 1; version <= 5; version++) {
		begin_wave(&b, version);
		inst(&b, 5, 0, 0);
		ready(&b, 2, 1);
		valu(&b, 5, 0);
		imm(&b, 2, 0);
		end(&b, 5, 0);
		for (size_t n = 8; n <= b.bits / 8; n++) {
			cut = b;
			cut.bits = n * 8;
			decoded(&cut, SQTT_RULES_RIGHT, jumps, 6, "WO");
			assert_true(cut.res.decoded_bytes <= n);
		}
	}
}

/* A token cut by the end of the stream: 0.1.6 takes what is missing for zeros. */
static void test_sqtt_gfx10_cut_end(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin(&b, 3);
	put(&b, 0x01 | (uint64_t)100 << 12, 48);
	put(&b, 0x201 | (uint64_t)5000 << 12, 48);
	put(&b, 0x01 | (uint64_t)50 << 12, 48);
	put(&b, 0x201 | 3000 << 12, 24);
	assert_string_equal(decoded(&b, SQTT_RULES_C16, NULL, 0, "R"), "R 125 4000\n");
	assert_string_equal(decoded(&b, SQTT_RULES_RIGHT, NULL, 0, "R"), "R 100 5000\n");
	assert_int_equal(b.res.notes[SQTT_DIFF_CUT].count, 1);
}

/* 0.1.6 obeys a header in mid-stream: the traced SIMD is another one from there on. */
static void test_sqtt_gfx10_second_header(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin_wave(&b, 4);
	inst(&b, 3, 0, 0);
	put(&b, 0x11 | 4u << 7 | 1u << 13 | 1u << 28, 64);
	start(&b, 1, 1, 127);
	end(&b, 5, 0);
	assert_string_equal(decoded(&b, SQTT_RULES_C16, NULL, 0, "W"), "W?0 1-9 [2,4,0,1] (1,3)\n");
	assert_string_equal(decoded(&b, SQTT_RULES_RIGHT, NULL, 0, "W"),
		"W0 1-10 [2,4,0,1] [11,5,0,5] (1,3)(2,6)\nW?1 5-0\n");
	assert_int_equal(b.res.notes[SQTT_DIFF_HEADER].count, 1);
}

/* Beyond 32 bits 0.1.6 keeps the low ones; sane rules stop at the largest. */
static void test_sqtt_gfx10_long_duration(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin_wave(&b, 4);
	put(&b, 0x01 | ((uint64_t)1 << 32 | 7) << 12, 64);
	inst(&b, 3, 0, 0);
	end(&b, 1, 0);
	assert_string_equal(decoded(&b, SQTT_RULES_C16, NULL, 0, "W"),
		"W0 1-4294967308 [2,4294967307,0,1] (1,10)(2,1)\n");
	assert_string_equal(decoded(&b, SQTT_RULES_RIGHT, NULL, 0, "W"),
		"W0 1-4294967308 [2,4294967307,0,1] (1,2147483647)(2,1)\n");
	assert_int_equal(b.res.notes[SQTT_DIFF_LONG_STALL].count, 1);
}

/* What the newer rules change is counted. */
static void test_sqtt_gfx10_newer_rules(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin_wave(&b, 3);
	inst(&b, 3, 0, 19); /* s_barrier */
	inst(&b, 7, 0, 0);
	end(&b, 3, 0);
	decoded(&b, SQTT_RULES_RIGHT, NULL, 0, "W");
	assert_int_equal(b.res.notes[SQTT_DIFF_NEWER].count, 1);
	decoded(&b, SQTT_RULES_C16, NULL, 0, "W");
	assert_int_equal(b.res.notes[SQTT_DIFF_NEWER].count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sqtt_gfx10_example),
		cmocka_unit_test(test_sqtt_gfx10_order),
		cmocka_unit_test(test_sqtt_gfx10_immediates),
		cmocka_unit_test(test_sqtt_gfx10_codes),
		cmocka_unit_test(test_sqtt_gfx10_realtime),
		cmocka_unit_test(test_sqtt_gfx10_shaderdata),
		cmocka_unit_test(test_sqtt_gfx10_events),
		cmocka_unit_test(test_sqtt_gfx10_late_address),
		cmocka_unit_test(test_sqtt_gfx10_barrier_wait),
		cmocka_unit_test(test_sqtt_gfx10_barrier_gap),
		cmocka_unit_test(test_sqtt_gfx10_starts),
		cmocka_unit_test(test_sqtt_gfx10_mi400),
		cmocka_unit_test(test_sqtt_gfx10_mi400_scale),
		cmocka_unit_test(test_sqtt_gfx10_cut_anywhere),
		cmocka_unit_test(test_sqtt_gfx10_cut_end),
		cmocka_unit_test(test_sqtt_gfx10_second_header),
		cmocka_unit_test(test_sqtt_gfx10_long_duration),
		cmocka_unit_test(test_sqtt_gfx10_newer_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
