/* SPDX-License-Identifier: Apache-2.0 */
/* test_option_reach.c: a question and its options reach an agent and HTTP only where their rows say
 * so; an option that names a file reaches HTTP not even then, and an agent only below its roots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "mcp/mcp.h"
#include "serve/session/session.h"

struct probe_params {
	const char *plain, *file, *shared_file, *unsaid;
};
#define FIELD(M) OPTION_FIELD(probe_params, M)
static const struct option_def probe_options[] = {
	{0, "plain", OPTION_TEXT, "TEXT", false, NULL, NULL, "everybody may set it", FIELD(plain),
		REACH_ALL},
	/* what a new option is unless its row says more */
	{0, "file", OPTION_TEXT, "FILE", true, NULL, NULL, "names a file", FIELD(file)},
	{0, "unsaid", OPTION_TEXT, "TEXT", false, NULL, NULL, "names none", FIELD(unsaid)},
	/* a mistake: a file that everybody may name */
	{0, "shared-file", OPTION_TEXT, "FILE", true, NULL, NULL, "names a file",
		FIELD(shared_file), REACH_ALL},
	OPTION_END,
};

struct probed {
	const char *plain;
};
static const struct column probed_columns[] = {
	COLUMN(probed, plain, UNIT_NONE, "what was given", NULLABLE),
};
static const struct record probed_record = RECORD_OF(probed, RECORD_BLOCK, probed_columns);

static bool probe_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct probe_params *p = r->params;
	struct probed *x = ANSWER_NEW(a, probed, e);

	if (!x)
		return false;
	assert_null(p->file);
	assert_null(p->unsaid);
	x->plain = p->plain;
	answer_set(a, &probed_record, x);
	return true;
}

#define PROBE(NAME, REACH)                                                                         \
	{                                                                                          \
		.name = (NAME), .summary = "a question of this test", .args = "PATH",              \
		.min_paths = 1, .max_paths = 1, .reach = (REACH), .options = probe_options,        \
		.params_size = sizeof(struct probe_params), .records = RECORDS(&probed_record),    \
		.ask = probe_ask                                                                   \
	}
static const struct question open_probe = PROBE("probe", REACH_ALL);
static const struct question closed_probe = PROBE("closed", 0);

extern const struct question question_check, question_diff, question_hot, question_info,
	question_isa, question_summary;
/* in place of verbs/table.c */
const struct question *const question_table[] = {&question_check, &question_diff, &question_hot,
	&question_info, &question_isa, &question_summary, &open_probe, &closed_probe, NULL};

static const char *capture(char path[512])
{
	const char *data = getenv("INCORE_TEST_DATA");

	assert_non_null(data);
	snprintf(path, 512, "%s/two_waves", data);
	return path;
}

/* --- an agent --- */

/* What the server answers to these lines; to be freed. */
static char *agent(const char *lines)
{
	char root[512], *out = NULL;
	const char *roots[] = {capture(root)};
	struct incore_error e = {0};
	struct mcp_options o = {.roots = roots, .n_roots = 1, .pool = pool_new(1, &e)};
	size_t n = 0;

	o.in = fmemopen((void *)lines, strlen(lines), "r");
	o.out = open_memstream(&out, &n);
	assert_true(o.pool && o.in && o.out);
	assert_true(mcp_serve(&o, &e));
	fclose(o.in);
	fclose(o.out);
	pool_free(o.pool);
	return out;
}

static void test_agent_is_offered_what_the_rows_say(void **state)
{
	char *list = agent("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n");
	char *tool = strstr(list, "\"name\":\"probe\"");

	(void)state;
	assert_non_null(tool);
	assert_non_null(strstr(tool, "\"plain\":{"));
	assert_non_null(strstr(tool, "\"shared-file\":{"));
	assert_null(strstr(tool, "\"file\":{"));
	assert_null(strstr(tool, "\"unsaid\":{"));
	assert_null(strstr(list, "\"name\":\"closed\""));
	free(list);
}

static char *call(const char *tool, const char *arguments)
{
	char line[512];

	snprintf(line, sizeof(line),
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
		"{\"name\":\"%s\",\"arguments\":{\"path\":\".\"%s}}}\n",
		tool, arguments);
	return agent(line);
}

static void test_agent_sets_what_the_rows_say(void **state)
{
	static const struct {
		const char *tool, *arguments, *told;
	} calls[] = {
		{"probe", ",\"plain\":\"x\"", "\"plain\":\"x\""},
		{"probe", ",\"file\":\"x\"", "probe takes no 'file'"},
		{"probe", ",\"unsaid\":\"x\"", "probe takes no 'unsaid'"},
		{"probe", ",\"shared-file\":[\"/etc/passwd\"]", "\"isError\":true"},
		{"closed", "", "there is no tool 'closed'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		char *text = call(calls[i].tool, calls[i].arguments);

		if (!strstr(text, calls[i].told))
			print_error("%s%s: %s\n", calls[i].tool, calls[i].arguments, text);
		assert_non_null(strstr(text, calls[i].told));
		free(text);
	}
}

/* --- HTTP --- */

static void test_request_sets_what_the_rows_say(void **state)
{
	static const struct {
		const char *target;
		unsigned status;
	} asked[] = {
		{"/api/1/probe?c=0&plain=x", 200},
		{"/api/1/probe?c=0&file=x", 400},
		{"/api/1/probe?c=0&unsaid=x", 400},
		{"/api/1/probe?c=0&shared-file=x", 400},
		{"/api/1/closed?c=0", 404},
	};
	struct incore_error e = {0};
	char path[512];
	const char *paths[] = {capture(path)};
	struct request reading;
	struct session *s;

	(void)state;
	assert_true(request_init(&reading, &open_probe, &e));
	reading.pool = pool_new(1, &e);
	s = session_new(
		&(struct session_options){
			.n = 1, .paths = paths, .reading = &reading, .no_cache = true},
		&e);
	assert_non_null(s);
	session_load(s);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		struct reply r;

		session_answer(s, str_of(asked[i].target), &r);
		if (r.status != asked[i].status)
			print_error("%s: %.*s\n", asked[i].target, (int)r.body.n, r.body.p);
		assert_int_equal(r.status, asked[i].status);
		sb_free(&r.body);
		incore_error_clear(&r.error);
	}
	session_free(s);
	pool_free(reading.pool);
	request_deinit(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agent_is_offered_what_the_rows_say),
		cmocka_unit_test(test_agent_sets_what_the_rows_say),
		cmocka_unit_test(test_request_sets_what_the_rows_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
