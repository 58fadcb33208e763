/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_junit.c: JUnit XML as Jenkins, GitLab and others read it: a gate is a test case of its
 * kernel; a gate without a verdict is skipped. No times, since nothing was run.
 */
#include "codec/markup.h"
#include "gate/gate.h"

static void put_attribute(struct strbuf *b, const char *name, const char *text)
{
	sb_printf(b, " %s=\"", name);
	markup_xml(b, str_of(text));
	sb_putc(b, '"');
}

static void gate_junit_put_line(struct strbuf *b, const char *before, const char *text)
{
	if (!text || !*text)
		return;
	sb_puts(b, before);
	markup_xml(b, str_of(text));
}

static void put_failure(struct strbuf *b, const struct gate_outcome *g)
{
	const struct gate_cause *v = g->causes.v;

	sb_puts(b, "   <failure");
	put_attribute(b, "message", g->message);
	put_attribute(b, "type", g->metric);
	sb_putc(b, '>');
	gate_junit_put_line(b, "", g->message);
	gate_junit_put_line(b, "\nevidence: ", g->evidence);
	for (size_t i = 0; i < g->causes.n; i++) {
		gate_junit_put_line(b, "\n", v[i].figure);
		gate_junit_put_line(b, "  ", v[i].what);
		gate_junit_put_line(b, "  ", v[i].source);
	}
	gate_junit_put_line(b, "\n", g->command);
	sb_puts(b, "</failure>\n");
}

static void put_case(struct strbuf *b, const struct gate_outcome *g)
{
	sb_puts(b, "  <testcase");
	put_attribute(b, "classname", g->kernel ? g->kernel : "(no name)");
	put_attribute(b, "name", g->name);
	sb_puts(b, ">\n");
	if (g->state == GATE_FAILED)
		put_failure(b, g);
	gate_junit_put_line(b, g->state == GATE_UNTOLD ? "   <skipped>" : "   <system-out>",
		g->state == GATE_FAILED ? NULL : g->message);
	sb_puts(b, g->state == GATE_UNTOLD ? "</skipped>\n"
		   : g->state == GATE_HELD ? "</system-out>\n"
					   : "");
	sb_puts(b, "  </testcase>\n");
}

void gate_put_junit(const struct gate_report *r, struct strbuf *out)
{
	unsigned long long tests = r->n, failures = gate_count(r, GATE_FAILED);

	sb_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	sb_printf(out,
		"<testsuites name=\"incore\" tests=\"%llu\" failures=\"%llu\" errors=\"0\">\n",
		tests, failures);
	sb_printf(out,
		" <testsuite name=\"incore %s\" tests=\"%llu\" failures=\"%llu\" errors=\"0\" "
		"skipped=\"%llu\">\n",
		r->verb, tests, failures, (unsigned long long)gate_count(r, GATE_UNTOLD));
	for (size_t i = 0; i < r->n; i++)
		put_case(out, &r->v[i]);
	sb_puts(out, " </testsuite>\n</testsuites>\n");
}
