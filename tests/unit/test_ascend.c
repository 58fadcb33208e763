/* SPDX-License-Identifier: Apache-2.0 */
/* test_ascend.c: lanes, flags, units and clocks of the Ascend tables, as rows of input and answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/ascend.h"

static void test_ascend_lanes(void **state)
{
	static const struct {
		const char *name;
		unsigned pipe;
	} rows[] = {{"MTE2", PIPE_MTE2}, {"FIXP", PIPE_FIXP}, {"FIXPIPE", PIPE_FIXP},
		{"MTE1#2", PIPE_MTE1}, {"MTE2 (load GM->UB) #1", PIPE_MTE2}, {"WARP_0", PIPE_WARP0},
		{"WARP_63", PIPE_WARP0 + 63}, {"WARP_64", PIPE_NONE}, {"WARP_-1", PIPE_NONE},
		{"RVECEX", PIPE_RVECEX}, {"PUSHQ", PIPE_PUSHQ}, {"mte2", PIPE_NONE},
		{"", PIPE_NONE}};
	char buf[16];
	size_t n;
	const struct ascend_lane *lanes = ascend_lanes(&n);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(ascend_pipe_of_lane(str_of(rows[i].name)), rows[i].pipe);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(ascend_pipe_of_lane(str_of(lanes[i].name)), lanes[i].pipe);
		assert_string_equal(ascend_pipe_name(lanes[i].pipe, buf), lanes[i].name);
	}
	assert_string_equal(ascend_pipe_name(PIPE_WARP0 + 7, buf), "WARP_7");
	assert_int_equal(ascend_pipe_of_unit(STR("VEC")), PIPE_VECTOR);
	assert_int_equal(ascend_pipe_of_unit(STR("FC")), PIPE_FLOWCTRL);
	assert_int_equal(ascend_pipe_of_unit(STR("FIX_PIPE")), PIPE_FIXP);
	assert_int_equal(ascend_pipe_of_unit(STR("ODD")), PIPE_ALL);
}

static void test_ascend_sync(void **state)
{
	static const struct {
		const char *opcode;
		enum ascend_sync sync;
		enum inst_class on_mte2;
	} rows[] = {{"SET_FLAG", SYNC_SET, CLASS_FLAG_SET},
		{"WAIT_FLAG", SYNC_WAIT, CLASS_FLAG_WAIT}, {"set_event", SYNC_SET, CLASS_FLAG_SET},
		{"wait_event", SYNC_WAIT, CLASS_FLAG_WAIT}, {"BAR", SYNC_BARRIER, CLASS_SYNC},
		{"BAR.ALL", SYNC_BARRIER, CLASS_SYNC},
		{"SET_INTRA_BLOCKI", SYNC_SET_CROSS, CLASS_FLAG_SET},
		{"WAIT_INTRA_BLOCK", SYNC_WAIT_CROSS, CLASS_FLAG_WAIT},
		{"WAIT_FLAG_DEV", SYNC_WAIT_CROSS, CLASS_FLAG_WAIT},
		{"GET_BUF", SYNC_GET_BUF, CLASS_SYNC}, {"RLS_BUF", SYNC_RLS_BUF, CLASS_SYNC},
		{"NOP_PIPE", SYNC_NOP, CLASS_SYNC}, {"MOV_SPR_XN", SYNC_NONE, CLASS_MTE},
		{"BARF", SYNC_NONE, CLASS_MTE}, {"", SYNC_NONE, CLASS_MTE}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(ascend_sync_of(str_of(rows[i].opcode)), rows[i].sync);
		assert_int_equal(ascend_class(PIPE_MTE2, str_of(rows[i].opcode)), rows[i].on_mte2);
	}
	assert_true(ascend_is_config(STR("MOV_SPR_XN")));
	assert_false(ascend_is_config(STR("MMAD")));
}

static void check_flag(const char *text, const char *producer, const char *consumer, const char *id)
{
	struct ascend_flag f = ascend_flag_of(str_of(text));

	assert_true(str_is(f.producer, producer));
	assert_true(str_is(f.consumer, consumer));
	assert_true(str_is(f.id, id));
}

static void test_ascend_flags(void **state)
{
	(void)state;
	check_flag("PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:0,", "MTE2", "VEC", "0");
	check_flag("PIPE:MTE2, TRIGGER PIPE:SCALAR, FLAG ID:7,", "MTE2", "SCALAR", "7");
	check_flag("SET_FLAG PIPE:M,TRIGGERPIPE:FIX,FLAGID:0xffffffff,", "M", "FIX", "0xffffffff");
	check_flag("pipe_type:V,tigger_pipe:S,event_id:3", "V", "S", "3");
	check_flag("", "", "", "");
	check_flag(",,::,", "", "", "");
}

static void test_ascend_units(void **state)
{
	struct ascend_unit u;

	(void)state;
	assert_true(ascend_unit_of(STR("core3.veccore1"), &u));
	assert_true(u.core == 3 && u.unit == 2 && u.kind == ASCEND_VEC);
	assert_true(ascend_unit_of(STR("core12.cubecore0"), &u));
	assert_true(u.core == 12 && u.unit == 0 && u.kind == ASCEND_CUBE);
	assert_true(ascend_unit_of(STR("core7"), &u));
	assert_true(u.core == 7 && u.kind == ASCEND_PLAIN);
	assert_false(ascend_unit_of(STR("c0"), &u));
	assert_false(ascend_unit_of(STR("core"), &u));
	assert_false(ascend_unit_of(STR("core0.veccore"), &u));
	assert_false(ascend_unit_of(STR("core0.veccore1x"), &u));
}

static void test_ascend_clocks(void **state)
{
	(void)state;
	assert_int_equal(ascend_soc_find(STR("Ascend910B1"))->mhz, 1850);
	assert_int_equal(ascend_soc_find(STR("910B2C"))->mhz, 1800);
	assert_int_equal(ascend_soc_find(STR("Ascend950PR_9599"))->mhz, 1800);
	assert_int_equal(ascend_soc_find(STR("Ascend950PR_957c"))->mhz, 1650);
	assert_int_equal(ascend_soc_find(STR("Ascend310P3"))->mhz, 1060);
	assert_null(ascend_soc_find(STR("Ascend")));
	assert_null(ascend_soc_find(STR("gfx942")));
	assert_int_equal(ascend_snap_mhz(1801.5), 1800);
	assert_int_equal(ascend_snap_mhz(1846), 1850);
	assert_int_equal(ascend_snap_mhz(1825), 0);
	assert_int_equal(ascend_snap_mhz(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ascend_lanes),
		cmocka_unit_test(test_ascend_sync),
		cmocka_unit_test(test_ascend_flags),
		cmocka_unit_test(test_ascend_units),
		cmocka_unit_test(test_ascend_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
