/* SPDX-License-Identifier: Apache-2.0 */
/* test_msprof.c: time limits of backend msprof, its choice of symbols and chips, its generated text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "replay/msprof/msprof.h"
#include "replay/msprof/symbol.h"
#include "temp_dir.h"

/* --- a CANN of shell scripts --- */

static const char *const SCRIPTS[][2] = {
	{"set_env.sh", "export ASCEND_HOME_PATH=\"$TEST_CANN\" PATH=\"$TEST_CANN/bin:$PATH\"\n"},
	{"bin/bisheng", "#!/bin/sh\nexit 0\n"},
	{"bin/nm", "#!/bin/sh\necho '0000 T replay_entry'\n"},
	{"bin/c++filt", "#!/bin/sh\ncat\n"},
	{"bin/cmake", "#!/bin/sh\n"
		      "[ \"$TEST_MODE\" != slow-cmake ] || sleep 600\n"
		      "if [ \"$1\" = --build ]; then\n"
		      "\ttouch build/libreplay_kernel.so build/replay_host\n"
		      "else\n\tmkdir build\nfi\n"},
	{"bin/msprof",
		"#!/bin/sh\n"
		"for w; do case $w in --output=*) out=${w#--output=};; --export=*) from=$w;; "
		"--help) echo 'Options: --application'; exit;; esac; done\n"
		"make() {\n"
		"\tmkdir -p \"$1/core0.veccore0\"\n"
		"\tfor f in trace.json visualize_data.bin core0.veccore0/x_instr_exe.csv; do\n"
		"\t\techo text > \"$1/$f\"\n\tdone\n}\n"
		"if [ -n \"$from\" ]; then make \"$out/OPPROF_2/simulator\"; exit; fi\n"
		"case $TEST_MODE in\n"
		"partial) make \"$out/OPPROF_1/simulator\"; sleep 600;;\n"
		"dump) mkdir -p \"$out/OPPROF_1/dump\"; sleep 600;;\n"
		"nothing) sleep 600;;\n"
		"*) make \"$out/OPPROF_1/simulator\"; echo All task success;;\n"
		"esac\n"},
	{"x/simulator/dav_2201/lib/libruntime_camodel.so", ""},
	{"tools/msopt/bin/msopprof", ""},
	{"tools/msopt/lib64/libmsopprof_injection.so", ""},
	{"k.cpp", "extern \"C\" void kernel_entry(int64_t *args) {}\n"},
};

struct stage { /* one run with that CANN */
	char dir[64], workspace[96], set_env[96], source[96];
	struct replay_means means;
	struct args args;
	struct arg_row row;
	struct replay_job job;
	struct arena arena;
	struct replay_outcome out;
	struct incore_error e;
};

static void put(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *p = path + strlen(dir) + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			mkdir(path, 0700);
			*p = '/';
		}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, 0700), 0);
}

static void stage_open(struct stage *s, const char *mode)
{
	*s = (struct stage){.dir = "/tmp/incore-msprof-XXXXXX"};
	assert_non_null(mkdtemp(s->dir));
	for (size_t i = 0; i < sizeof(SCRIPTS) / sizeof(*SCRIPTS); i++)
		put(s->dir, SCRIPTS[i][0], SCRIPTS[i][1]);
	snprintf(s->workspace, sizeof(s->workspace), "%s/ws", s->dir);
	snprintf(s->set_env, sizeof(s->set_env), "%s/set_env.sh", s->dir);
	snprintf(s->source, sizeof(s->source), "%s/k.cpp", s->dir);
	assert_int_equal(mkdir(s->workspace, 0700), 0);
	setenv("TEST_CANN", s->dir, 1);
	setenv("TEST_MODE", mode, 1);
	s->means.msprof = (struct msprof_options){.cann.set_env = s->set_env,
		.device = NO_COUNT,
		.launch_count = 1,
		.timeout_minutes = 120};
	s->args.block_count = 1; /* one block, no slot */
	s->args.rows.v = &s->row;
	s->args.rows.n = 1;
	s->job = (struct replay_job){.workspace = s->workspace,
		.label = "k",
		.kernel_class = KERNEL_AIV_ONLY,
		.n_members = 1,
		.members = {{s->source, KERNEL_ON_AIV, -1, 1}},
		.args = &s->args,
		.means = &s->means};
	arena_init(&s->arena);
}

static void stage_close(struct stage *s)
{
	incore_error_clear(&s->e);
	arena_deinit(&s->arena);
	assert_int_equal(temp_dir_remove(s->dir), 0);
}

static bool stage_run(struct stage *s)
{
	return backend_msprof.run(&s->job, &s->arena, &s->out, &s->e);
}

static void test_msprof_complete(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "");
	assert_true(backend_msprof.preflight(&s.job, &s.e));
	if (!stage_run(&s))
		fail_msg("%s", s.e.message);
	assert_false(s.out.is_partial);
	assert_null(s.out.warning);
	assert_true(file_is_dir(s.out.simulator_dir));
	stage_close(&s);
}

/* Cut by our limit: what lies there is kept, and named partial. */
static void test_msprof_partial(void **state)
{
	static const char *const MODES[] = {"partial", "dump"};
	struct stage s;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		stage_open(&s, MODES[i]);
		s.means.msprof.collect_limit_s =
			5; /* more than a script of two commands ever needs */
		if (!stage_run(&s))
			fail_msg("%s", s.e.message);
		assert_true(s.out.is_partial);
		assert_non_null(strstr(s.out.verdict, "partial"));
		assert_non_null(
			strstr(s.out.simulator_dir, i ? "/insight_export/OPPROF_2/simulator"
						      : "/insight_export/OPPROF_1/simulator"));
		stage_close(&s);
	}
}

static void test_msprof_nothing_in_time(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "nothing");
	s.means.msprof.collect_limit_s = 1;
	assert_false(stage_run(&s));
	assert_int_equal(s.e.status, INCORE_FAILED);
	assert_non_null(strstr(s.e.message, "before anything was dumped"));
	stage_close(&s);
}

static void test_msprof_slow_step(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "slow-cmake");
	s.means.msprof.step_limit_s = 1;
	assert_false(stage_run(&s));
	assert_int_equal(s.e.status, INCORE_FAILED);
	assert_non_null(strstr(s.e.message, "cmake of the replay failed: not done after 1 s"));
	stage_close(&s);
}

static bool always(void *ctx)
{
	(void)ctx;
	return true;
}

static void test_msprof_cancelled(void **state)
{
	struct stage s;

	(void)state;
	stage_open(&s, "nothing");
	s.means.is_cancelled = always;
	assert_false(stage_run(&s));
	assert_string_equal(s.e.code, "interrupted");
	stage_close(&s);
}

/* --- choices --- */

static void test_symbol_choice(void **state)
{
	static const struct {
		const char *mangled, *plain, *found,
			*code; /* found NULL: an error with this code */
	} CASES[] = {
		{"k\nlaunch\n", "k\nlaunch\n", "k", NULL},
		{"_Z1kPf\n", "k(float*)\n", "_Z1kPf", NULL},
		{"kk\n", "kk\n", NULL, "no-symbol"},
		{"second\n", "second\n", "second", NULL},
		{"second\nk\n", "second\nk\n", "k", NULL},
		{"_Z1ki\n_Z1kf\n", "k(int)\nk(float)\n", NULL, "ambiguous-symbol"},
		{"k\nl\n", "k\n", NULL, "tool-failed"},
		{"", "", NULL, "no-symbol"},
	};
	const char *const names[] = {"k", "second", NULL};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
		struct incore_error e = {0};
		struct symbol found = {0};
		struct arena a;
		bool ok;

		arena_init(&a);
		ok = symbol_choose(&a, "lib.so", names,
			(struct symbol_lists){str_of(CASES[i].mangled), str_of(CASES[i].plain)},
			&found, &e);
		assert_int_equal(ok, CASES[i].found != NULL);
		if (ok)
			assert_string_equal(found.mangled, CASES[i].found);
		else
			assert_string_equal(e.code, CASES[i].code);
		incore_error_clear(&e);
		arena_deinit(&a);
	}
}

static void test_symbol_names(void **state)
{
	struct strbuf out = {0};

	(void)state;
	symbol_names(STR("                 U malloc\n0010 T one\n0020 W _Z3twov\n0030 t "
			 "local\n0040 D data\n"
			 "T\n T \nT nothing\n"),
		&out);
	assert_string_equal(out.p, "one\n_Z3twov\n");
	sb_free(&out);
}

static void test_chip_choice(void **state)
{
	static const struct cann_soc SOCS[] = {{"Ascend310P", ""}, {"Ascend910B4", ""},
		{"ascend910b1", ""}, {"Ascend910B2", ""}, {"dav_2201", ""}, {"Ascend950PR", ""}};
	size_t n_fit;

	(void)state;
	assert_int_equal(cann_guess_soc(SOCS, 6, ARCH_A2A3, &n_fit), 4);
	assert_int_equal(n_fit, 4);
	assert_int_equal(cann_guess_soc(SOCS, 4, ARCH_A2A3, &n_fit), 3);
	assert_int_equal(cann_guess_soc(SOCS, 6, ARCH_A5, &n_fit), 5);
	assert_int_equal(n_fit, 1);
	assert_int_equal(cann_guess_soc(SOCS, 1, ARCH_A2A3, &n_fit), 1);
	assert_int_equal(n_fit, 0);
	assert_int_equal(cann_guess_soc(NULL, 0, ARCH_A5, &n_fit), 0);
}

static void test_words_and_paths(void **state)
{
	static const char *const BAD[] = {"a\"b", "a\\b", "a$b", "a`b", "a;b", "a\nb", "a\tb"};

	(void)state;
	assert_true(cann_is_word("Ascend910B1") && cann_is_word("dav-c220.x_y"));
	assert_false(cann_is_word("") || cann_is_word("a b") || cann_is_word("a;b") ||
		     cann_is_word("$(x)"));
	for (size_t i = 0; i < sizeof(BAD) / sizeof(*BAD); i++) {
		struct incore_error e = {0};

		assert_false(msprof_check_path(BAD[i], &e));
		assert_int_equal(e.status, INCORE_BAD_INPUT);
		incore_error_clear(&e);
	}
	assert_true(msprof_check_path("/a b/c's (1)/k.cpp", NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_msprof_complete),
		cmocka_unit_test(test_msprof_partial),
		cmocka_unit_test(test_msprof_nothing_in_time),
		cmocka_unit_test(test_msprof_slow_step),
		cmocka_unit_test(test_msprof_cancelled),
		cmocka_unit_test(test_symbol_choice),
		cmocka_unit_test(test_symbol_names),
		cmocka_unit_test(test_chip_choice),
		cmocka_unit_test(test_words_and_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
