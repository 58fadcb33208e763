/* SPDX-License-Identifier: Apache-2.0 */
/* dump_common.c: opening a dump for a verb, and the selection options. */
#include <string.h>

#include "cli/draw.h"
#include "cli/dump/dump_job.h"
#include "dump/read/deps.h"
#include "dump/read/values.h"
#include "page/say.h"

#define WARNINGS_SHOWN 5 /* per kind; the rest is only counted */

/* Reports the defects that the reader has already found. */
static void tell_problems(struct cli *c, const struct dump *d)
{
	const struct problems *p = &d->problems;

	EACH (const struct problem_count, k, p->counts.v, p->counts.n) {
		uint64_t shown = 0;

		if (k->weight == PROBLEM_NOTE)
			continue;
		for (size_t j = 0; j < p->v.n && shown < WARNINGS_SHOWN; j++) {
			const struct problem *x = &p->v.v[j];

			if (x->weight != k->weight || strcmp(x->code, k->code) != 0)
				continue;
			shown++;
			if (x->at == UINT64_MAX)
				cli_warn(c, "%s: %s", d->manifest, x->text);
			else
				cli_warn(c, "%s@%llu: %s", d->manifest, (unsigned long long)x->at,
					x->text);
		}
		if (k->n > shown)
			cli_warn(c, "%s: %llu more like that (%s)", d->manifest,
				(unsigned long long)(k->n - shown), k->code);
		if (k->weight == PROBLEM_DEFECT)
			c->n_losses++;
	}
}

bool dump_cli_open_quietly(struct cli *c, const char *path, struct dump **out)
{
	const char *layout = cli_text(c, "records"), *arena = cli_text(c, "arena");

	if (arena && !layout)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--arena: belongs to device records (--records)");
	*out = layout ? dump_open_records(path, layout, arena, &c->error)
		      : dump_open(path, cli_flag(c, "follow-links"), &c->error);
	return *out != NULL;
}

bool dump_cli_open(struct cli *c, const char *path, struct dump **out)
{
	if (!dump_cli_open_quietly(c, path, out))
		return false;
	tell_problems(c, *out);
	return true;
}

static bool bad_value(struct cli *c, const char *name, const char *want)
{
	return err_set(&c->error, INCORE_USAGE, "bad-option-value", "--%s: expected %s, found '%s'",
		name, want, cli_text(c, name));
}

/* Index of a choice's value in "a|b|c"; SELECT_ANY if it was not given. */
static unsigned choice_of(const struct cli *c, const char *name, const char *choices)
{
	struct str rest = str_of(choices), part;
	const char *given = cli_text(c, name);

	for (unsigned i = 0; given && str_cut(&rest, "|", &part); i++)
		if (str_is(part, given))
			return i;
	return SELECT_ANY;
}

static int yes_or_no(const struct cli *c, const char *name)
{
	const char *given = cli_text(c, name);

	return given ? strcmp(given, "yes") == 0 : -1;
}

static bool add_indices(struct cli *c, struct dump_select *s)
{
	for (unsigned i = 0; i < cli_many(c, "index"); i++) {
		uint64_t v;

		if (!str_to_u64(str_of(cli_many_at(c, "index", i)), &v) || v >= DUMP_NONE)
			return err_set(&c->error, INCORE_USAGE, "bad-option-value",
				"--index: expected a manifest index, found '%s'",
				cli_many_at(c, "index", i));
		if (!VEC_PUSH(&s->indices, (uint32_t)v))
			return err_nomem(&c->error);
	}
	return true;
}

bool dump_cli_select(struct cli *c, struct dump_select *s)
{
	const char *dtype = cli_text(c, "dtype");

	dump_select_init(s);
	s->has_task = cli_has(c, "task");
	if (s->has_task && !dump_task_parse(cli_text(c, "task"), &s->task))
		return bad_value(c, "task", "a task id like 0x200000009, 8589934601 or 2:9");
	s->has_dispatch = cli_has(c, "dispatch");
	s->dispatch = cli_count(c, "dispatch");
	s->has_func = cli_has(c, "func");
	if (cli_count(c, "func") > INT32_MAX)
		return bad_value(c, "func", "a func id");
	s->func = (int32_t)cli_count(c, "func");
	if (cli_has(c, "arg")) {
		if (cli_count(c, "arg") >= SELECT_ANY)
			return bad_value(c, "arg", "a slot number");
		s->slot = (uint32_t)cli_count(c, "arg");
	}
	if (dtype) {
		s->dtype = dtype_of_name(dtype, strlen(dtype));
		if (s->dtype == DTYPE_UNKNOWN && strcmp(dtype, "UNKNOWN") != 0)
			return bad_value(c, "dtype", "one of " DTYPE_CHOICES);
	}
	s->stage = choice_of(c, "stage", "before|after");
	s->role = choice_of(c, "role", "input|output|inout");
	s->kind = choice_of(c, "kind", "tensor|scalar");
	s->has_payload = yes_or_no(c, "payload");
	s->is_contiguous = yes_or_no(c, "contiguous");
	s->kernel = cli_text(c, "kernel");
	return add_indices(c, s);
}

const char *dump_text_members(const struct dump *d, uint32_t members, char buf[DUMP_MEMBERS_TEXT])
{
	int32_t ids[DUMP_MAX_MEMBERS];
	unsigned n = dump_members_of(d, members, ids);
	size_t at = 0;

	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(
			buf + at, DUMP_MEMBERS_TEXT - at, "%s%d", i ? "," : "", (int)ids[i]);
	return n ? buf : "-";
}

const char *dump_text_dims(const uint64_t *v, unsigned n, char buf[DUMP_DIMS_TEXT])
{
	size_t at = 1;

	buf[0] = '[';
	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(buf + at, DUMP_DIMS_TEXT - at, "%s%llu", i ? ", " : "",
			(unsigned long long)v[i]);
	snprintf(buf + at, DUMP_DIMS_TEXT - at, "]");
	return buf;
}

const char *dump_text_scalar(const struct dump_record *r, char buf[DUMP_SCALAR_TEXT])
{
	char typed[VALUE_TEXT], as_float[VALUE_TEXT];

	if (r->kind != DUMP_SCALAR)
		return "";
	if (!(r->flags & DUMP_HAS_VALUE))
		return "(no value)";
	scalar_text(r->dtype, r->bits, typed);
	if (scalar_as_float(r->dtype, r->bits, as_float))
		snprintf(buf, DUMP_SCALAR_TEXT, "%s (%s as FLOAT32)", typed, as_float);
	else
		snprintf(buf, DUMP_SCALAR_TEXT, "%s%s", typed,
			r->flags & DUMP_EXACT ? "" : " (6 digits)");
	return buf;
}

void dump_text_head(struct cli *c, const struct dump *d)
{
	char gen[16], level[24];

	say(c->out, "%s, %s, %s, level %s, ", COUNTED(d->records.n, "record"),
		COUNTED(d->tasks.n, "task"), dump_generation_name(d, gen),
		dump_level_name(d, level));
	if (!d->payload)
		fputs("no payload file", c->out);
	else if (d->is_payload_missing)
		fputs("payload file missing", c->out);
	else
		say(c->out, "%s of payload", COUNTED(d->bytes.size, "byte"));
	if (d->is_repaired)
		fputs(", repaired", c->out);
	if (d->deps)
		fputs(", with deps.json", c->out);
	fputc('\n', c->out);
}
