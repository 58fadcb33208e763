/* SPDX-License-Identifier: Apache-2.0 */
/* gfx9 thread traces: bytes in, records out, token by token. */
#include "sqtt_bytes.h"

#define HEADER 0x0000000000088011u /* MI200 or older, SIMD 3, CU 0 */

/* --- tokens; times are absolute, a MISC is put where one has to pass */

static void at(struct sqtt_bytes *b, int64_t time)
{
	for (; b->now < time; b->now += 4 * (time - b->now > 1020 ? 255 : (time - b->now) / 4))
		put(b, (uint64_t)(time - b->now > 1020 ? 255 : (time - b->now) / 4) << 4, 16);
}

static void begin(struct sqtt_bytes *b)
{
	memset(b, 0, sizeof(*b));
	put(b, HEADER, 64);
}

static void reg_cs(struct sqtt_bytes *b, unsigned which, uint32_t data)
{
	put(b, 5 | (uint64_t)which << 9 | (uint64_t)data << 16, 48);
}

static void reg(struct sqtt_bytes *b, unsigned addr, uint32_t data)
{
	put(b, 2 | 1u << 15 | (uint64_t)addr << 16 | (uint64_t)data << 32, 64);
}

static void wave_start(struct sqtt_bytes *b, unsigned cu, unsigned simd, unsigned slot)
{
	put(b, 3 | cu << 6 | slot << 10 | simd << 14 | 1u << 18 | 1u << 22, 32);
}

static void wave_end(struct sqtt_bytes *b, unsigned cu, unsigned simd, unsigned slot)
{
	put(b, 6 | cu << 6 | slot << 10 | simd << 14, 16);
}

static void issue(struct sqtt_bytes *b, int64_t time, unsigned code)
{
	at(b, time);
	put(b, 13 | code << 8, 32);
}

static void inst(struct sqtt_bytes *b, int64_t time, unsigned type)
{
	at(b, time);
	put(b, 10 | type << 11, 16);
}

/* "salu 120 msg 144 imm 168 end 240": ISSUE at the time, INST four cycles later. */
static void play(struct sqtt_bytes *b, const char *script)
{
	static const struct {
		const char *word;
		int type;
	} types[] = {{"salu", 1}, {"smem", 0}, {"valu", 5}, {"msg", 15}, {"lds", 6}, {"flat", 14},
		{"jump", 12}, {"next", 13}, {"setpc", 7}, {"replay", 24}, {"vmem", 2}};
	char word[16];
	int time, used;

	for (; sscanf(script, " %15s %d%n", word, &time, &used) == 2; script += used) {
		if (strcmp(word, "imm") == 0)
			issue(b, time, 3);
		else if (strcmp(word, "stall") == 0)
			issue(b, time, 1);
		else if (strcmp(word, "end") == 0)
			at(b, time), wave_end(b, 0, 0, 0);
		for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
			if (strcmp(word, types[i].word) == 0) {
				issue(b, time, 2);
				inst(b, time + 4, (unsigned)types[i].type);
			}
	}
}

static void begin_wave(struct sqtt_bytes *b, const char *script)
{
	begin(b);
	reg_cs(b, 0x0c, CODE_BASE >> 8);
	reg_cs(b, 0x0d, 0);
	at(b, 100);
	wave_start(b, 0, 0, 0);
	play(b, script);
}

struct wave_case {
	enum sqtt_rules rules;
	const char *script, *want;
};

static const struct wave_case wave_cases[] = {
	{SQTT_RULES_C16, "salu 120 msg 144 imm 168 imm 200 end 240",
		"W0 100-240 [2,120,0,4] [9,144,28,28] [9,172,32,32] "
		"(1,20)(2,24)(3,28)(3,32)(1,36)\n"},
	{SQTT_RULES_C16, "salu 120 stall 132 msg 144 end 240",
		"W0 100-240 [2,120,0,4] [11,132,12,16] (1,20)(2,12)(4,0)(4,16)(1,92)\n"},
	{SQTT_RULES_C16, "salu 120 msg 144 end 168",
		"W0 100-168 [2,120,0,4] [11,124,0,24] (1,20)(2,4)(3,24)(1,20)\n"},
	{SQTT_RULES_C16, "salu 120 stall 132 msg 144 imm 168 valu 180 msg 200 end 240",
		"W0 100-240 [2,120,0,4] [9,144,28,28] [6,172,8,12] [11,184,0,20] "
		"(1,20)(2,12)(4,12)(3,28)(2,12)(3,20)(1,36)\n"},
	/* the newer rules keep a message, and stalls before it stay its own */
	{SQTT_RULES_RIGHT, "salu 120 stall 132 msg 144 end 240",
		"W0 100-244 [2,120,0,4] [11,132,12,16] (1,20)(2,12)(4,12)(2,100)\n"},
	{SQTT_RULES_RIGHT, "salu 120 msg 144 imm 168 end 240",
		"W0 100-244 [2,120,0,4] [11,144,0,4] [9,148,24,24] (1,20)(2,28)(3,24)(2,72)\n"},
	/* a repeated access lasts until its repeat was seen */
	{SQTT_RULES_RIGHT, "flat 120 salu 140 replay 160 end 200",
		"W0 100-204 [4,120,40,48] [2,140,0,4] (1,20)(2,40)(2,44)\n"},
	/* no end */
	{SQTT_RULES_C16, "salu 120", "W?0 100-128 [2,120,0,4] (1,20)\n"},
};

static void test_sqtt_gfx9_waves(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	for (size_t i = 0; i < sizeof(wave_cases) / sizeof(wave_cases[0]); i++) {
		const struct wave_case *c = &wave_cases[i];

		begin_wave(&b, c->script);
		assert_string_equal(decoded(&b, c->rules, NULL, 0, "W"), c->want);
	}
}

/* s_mov; v_mov; s_waitcnt; global_load; s_cbranch to the first; s_barrier; s_endpgm */
static const uint32_t program[] = {0xbe800080, 0x7e000280, 0xbf8c0f70, 0xdc508000, 0x00000000,
	0xbf85fffa, 0xbf8a0000, 0xbf810000};

static const struct wave_case stitch_cases[] = {
	{SQTT_RULES_RIGHT,
		"salu 120 valu 140 imm 160 flat 180 jump 200 salu 220 valu 240 imm 260 flat 280 "
		"next 300",
		"W?0 100-308 [2,120,0,4,0] [6,140,0,4,4] [9,144,20,20,8] [4,180,0,8,c] "
		"[7,200,0,4,14] "
		"[2,220,0,4,0] [6,240,0,4,4] [9,244,20,20,8] [4,280,0,8,c] [8,300,0,4,14] "
		"(1,20)(2,24)(3,20)(2,80)(3,20)(2,36)\n"},
	/* two issued the other way round come back in program order */
	{SQTT_RULES_C16, "salu 120 imm 140 valu 160",
		"W?0 100-168 [2,120,0,4,0] [6,160,0,4,4] [9,124,20,20,8] "
		"(1,20)(2,4)(3,20)(2,16)\n"},
	/* a barrier is a message and an immediate, or an immediate alone */
	{SQTT_RULES_RIGHT,
		"salu 120 valu 140 imm 160 flat 180 next 200 msg 220 imm 240 msg 260 end 280",
		"W0 100-284 [2,120,0,4,0] [6,140,0,4,4] [9,144,20,20,8] [4,180,0,8,c] "
		"[8,200,0,4,14] "
		"[11,220,0,4,18] [9,224,20,20,18] [11,260,0,4,1c] "
		"(1,20)(2,24)(3,20)(2,60)(3,20)(2,16)(2,24)\n"},
	{SQTT_RULES_C16,
		"salu 120 valu 140 imm 160 flat 180 next 200 msg 220 imm 240 msg 260 end 280",
		"W0 100-280 [2,120,0,4,0] [6,140,0,4,4] [9,144,20,20,8] [4,180,0,8,c] "
		"[8,200,0,4,14] "
		"[9,220,24,24,18] [11,244,0,20,1c] "
		"(1,20)(2,24)(3,20)(2,56)(3,24)(2,0)(3,20)(1,16)\n"},
};

static void test_sqtt_gfx9_stitch(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	for (size_t i = 0; i < sizeof(stitch_cases) / sizeof(stitch_cases[0]); i++) {
		const struct wave_case *c = &stitch_cases[i];

		begin_wave(&b, c->script);
		decoded(&b, c->rules, program, 8, "W");
		assert_string_equal(b.text, c->want);
	}
}

/* setpc at 120: where to is said by INST_PC, or never. */
static void test_sqtt_gfx9_indirect(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin_wave(&b, "setpc 120 valu 140");
	put(&b, 11 | (uint64_t)(CODE_BASE + 4) / 4 << 16, 64);
	assert_string_equal(decoded(&b, SQTT_RULES_RIGHT, program, 8, "W"),
		"W?0 100-148 [2,120,0,8,0] [6,140,0,4,4] (1,20)(2,20)\n");
	begin_wave(&b, "setpc 120 valu 140");
	assert_string_equal(decoded(&b, SQTT_RULES_RIGHT, program, 8, "W"),
		"W?0 100-148 [2,120,0,8,0] [6,140,0,4] (1,20)(2,20)\n");
	assert_int_equal(b.res.notes[SQTT_DIFF_UNKNOWN_JUMP].count, 1);
	assert_string_equal(decoded(&b, SQTT_RULES_C16, program, 8, "W"),
		"W?0 100-148 [2,120,0,8,0] [6,140,0,4,4] (1,20)(2,20)\n");
}

/* The first tokens of a real stream: the clock takes its base from the TIME after the reset. */
static void test_sqtt_gfx9_time_reset(void **state)
{
	static const uint8_t tokens[] = {
		0xf0, 0x2f, 0x00, 0x60, 0x00, 0x00, 0x01, 0x00, 0x53, 0x7d, 0xf8, 0xad, 0x45, 0x02};
	struct sqtt_bytes b;

	(void)state;
	begin(&b);
	memcpy(b.p + 8, tokens, sizeof(tokens));
	b.bits += 8 * sizeof(tokens);
	wave_start(&b, 3, 2, 1);
	assert_string_equal(decoded(&b, SQTT_RULES_C16, NULL, 0, "O"), "O +1016 3.2.1 0\n");
}

static void test_sqtt_gfx9_occupancy(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin(&b);
	reg_cs(&b, 0x0c, CODE_BASE >> 8);
	at(&b, 40);
	wave_start(&b, 2, 1, 3);
	wave_start(&b, 2, 1, 3); /* already there */
	at(&b, 80);
	wave_end(&b, 2, 1, 3);
	wave_end(&b, 2, 1, 4); /* was there before the trace */
	wave_end(&b, 2, 1, 5);
	assert_string_equal(decoded(&b, SQTT_RULES_C16, NULL, 0, "O"),
		"O +40 2.1.3 100000\nO -80 2.1.3 100000\nO -0 2.1.4 0\nO -0 2.1.5 0\n"
		"O +0 2.1.5 0\nO +0 2.1.4 0\n");
	assert_string_equal(decoded(&b, SQTT_RULES_RIGHT, NULL, 0, "O"),
		"O +40 2.1.3 100000\nO -80 2.1.3 100000\nO -80 2.1.4 0\nO -80 2.1.5 0\n"
		"O +0 2.1.5 0\nO +0 2.1.4 0\n");
	assert_int_equal(b.res.notes[SQTT_NOTE_NO_START].count, 2);
	assert_int_equal(b.res.notes[SQTT_DIFF_OPEN_START].count, 2);
}

/* A launch with what was set for it, a flush, a stall; decoder 0.1.6 tells of none. */
static void test_sqtt_gfx9_events(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin(&b);
	reg_cs(&b, 0x0c, CODE_BASE >> 8);
	reg_cs(&b, 0x07, 64);
	reg_cs(&b, 0x08, 2);
	reg_cs(&b, 0x09, 1);
	reg_cs(&b, 0x00, 0); /* no launch */
	at(&b, 40);
	reg_cs(&b, 0x00, 1);
	at(&b, 80);
	reg_cs(&b, 0x7f, 7);
	reg_cs(&b, 0x7f, 8);
	put(&b, 4u << 13, 16);
	put(&b, 5u << 13, 16);
	put(&b, 2u << 13, 16);
	assert_string_equal(decoded(&b, SQTT_RULES_RIGHT, NULL, 0, "E"),
		"E 40 0 me 1 pipe 0 flags 0 100000 64x2x1\nE 80 1 me 1 pipe 0 flags 0 0 0x0x0\n"
		"E 80 9 me 0 pipe 0 flags 0 0 0x0x0\nE 80 10 me 0 pipe 0 flags 0 0 0x0x0\n"
		"E 80 6 me 0 pipe 0 flags 0 0 0x0x0\n");
	assert_string_equal(decoded(&b, SQTT_RULES_C16, NULL, 0, "E"), "");
}

static void test_sqtt_gfx9_userdata(void **state)
{
	static const uint32_t words[] = {0x104, 99, /* ignored: not enabled yet */
		0x434f5200, 524801, 0x104, 0x2000, 0x404, 0, 0x204, CODE_BASE - 0x1000, 0x304, 0,
		0x504, 7, 0x604, 0, 0x004, 0, 6 | 100000 << 12, 0x106 | 64 << 12};
	struct sqtt_bytes b;

	(void)state;
	begin(&b);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		reg(&b, 0xc342, words[i]);
	reg(&b, 0xc343, 5);
	reg(&b, 0xc343, 0xfffffff0);
	reg(&b, 0xc343, 1);
	at(&b, 60);
	reg(&b, 0xc343, 0x10);
	reg_cs(&b, 0x0c, CODE_BASE >> 8);
	at(&b, 100);
	wave_start(&b, 0, 0, 0);
	play(&b, "salu 120 valu 140");
	put(&b, 14 | 1 << 10 | 5 << 12, 64); /* a sample of bank 1 */
	at(&b, 400);
	put(&b, 14 | 1 << 10 | (uint64_t)6 << 51, 64);
	put(&b, 12 | 1 << 6 | 2 << 10 | 3 << 14 | (uint64_t)77 << 16, 48);
	assert_string_equal(decoded(&b, SQTT_RULES_RIGHT, program, 8, "WORPD"),
		"W?0 100-148 [2,120,0,4,o1000] [6,140,0,4,o1004] (1,20)(2,20)\n"
		"P 144 5,0,0,0 cu 0 bank 1\nP 400 0,0,0,0 cu 0 bank 1\nP 400 0,0,0,6 cu 0 bank 1\n"
		"P 464 0,0,0,0 cu 0 bank 1\n"
		"D 400 77 1.3.2 flags 0\n"
		"O +100 0.0.0 o1000\n"
		"R 60 8589934608\n");
	assert_int_equal(b.res.rt_frequency_hz, 100000000);
}

/* Whatever is wrong is counted, with the byte where it was first seen. */
static void test_sqtt_gfx9_damage(void **state)
{
	struct sqtt_bytes b;

	(void)state;
	begin_wave(&b, "salu 120 valu 140");
	put(&b, 2 << 13, 16);		     /* packet lost */
	put(&b, 10 | 12 << 5 | 1 << 11, 16); /* slot 12 */
	play(&b, "salu 160 end 200");
	put(&b, 2, 24); /* three bytes of eight */
	decoded(&b, SQTT_RULES_RIGHT, NULL, 0, "W");
	assert_string_equal(
		b.text, "W0 100-204 [2,120,0,4] [6,140,0,4] [2,160,0,4] (1,20)(2,40)(2,44)\n");
	assert_true(b.res.is_lost);
	assert_int_equal(b.res.notes[SQTT_NOTE_PACKET_LOST].count, 1);
	assert_int_equal(b.res.notes[SQTT_NOTE_BAD_SLOT].count, 1);
	assert_int_equal(b.res.notes[SQTT_NOTE_BAD_SLOT].first_off,
		b.res.notes[SQTT_NOTE_PACKET_LOST].first_off + 2);
	assert_int_equal(b.res.notes[SQTT_NOTE_CUT].count, 1);
	assert_int_equal(b.res.notes[SQTT_NOTE_CUT].first_off, b.bits / 8 - 3);
	/* decoder 0.1.6 has nothing to say about such a stream */
	decoded(&b, SQTT_RULES_C16, NULL, 0, "W");
	assert_int_equal(b.res.status, SQTT_INVALID_DATA);
}

static void test_sqtt_gfx9_recognise(void **state)
{
	static const uint8_t zeros[16];
	struct incore_error e = {0};
	struct sqtt_stream s;
	uint8_t h[8] = {0x11, 0xc0, 0x1f, 0x0c, 1};

	(void)state;
	assert_true(sqtt_recognise(h, 8, &s, &e));
	assert_int_equal(s.gfx_major, 9);
	assert_int_equal(s.version, 6);
	assert_int_equal(s.simd_mask, 15);
	assert_int_equal(s.target_cu, 1);
	assert_int_equal(s.se, 3);
	assert_true(s.is_double_buffer);
	assert_false(sqtt_recognise(h, 7, &s, &e));
	assert_string_equal(e.code, "truncated");
	assert_false(sqtt_recognise(zeros, 16, &s, &e));
	assert_string_equal(e.code, "bad-magic");
	incore_error_clear(&e);
}

/* A stream cut at any byte gives the records before the cut. */
static void test_sqtt_gfx9_cut_anywhere(void **state)
{
	struct sqtt_bytes b, cut;

	(void)state;
	begin_wave(&b, "salu 120 valu 140 imm 160 flat 180 jump 200 salu 220 msg 240 end 280");
	for (size_t n = 8; n <= b.bits / 8; n++) {
		cut = b;
		cut.bits = n * 8;
		decoded(&cut, SQTT_RULES_RIGHT, program, 8, "WO");
		assert_true(cut.res.decoded_bytes + 8 > n);
		assert_int_equal(cut.res.notes[SQTT_NOTE_CUT].count, cut.res.decoded_bytes < n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sqtt_gfx9_waves),
		cmocka_unit_test(test_sqtt_gfx9_stitch),
		cmocka_unit_test(test_sqtt_gfx9_indirect),
		cmocka_unit_test(test_sqtt_gfx9_time_reset),
		cmocka_unit_test(test_sqtt_gfx9_occupancy),
		cmocka_unit_test(test_sqtt_gfx9_events),
		cmocka_unit_test(test_sqtt_gfx9_userdata),
		cmocka_unit_test(test_sqtt_gfx9_damage),
		cmocka_unit_test(test_sqtt_gfx9_recognise),
		cmocka_unit_test(test_sqtt_gfx9_cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
