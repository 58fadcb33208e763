/* SPDX-License-Identifier: Apache-2.0 */
/* dump_open.c: opens a dump for a question, selects records, and writes parts of them as text. */
#include <string.h>

#include "dump/read/deps.h"
#include "dump/read/values.h"
#include "verbs/dump/dump_verbs.h"

#define WARNINGS_SHOWN 5 /* per kind; the rest is only counted */

static void warn_problem(struct answer *a, const struct dump *d, const struct problem *x)
{
	if (x->note.offset == UINT64_MAX)
		answer_warn(a, "%s: %s", d->manifest, x->note.message);
	else
		answer_warn(a, "%s@%llu: %s", d->manifest, (unsigned long long)x->note.offset,
			x->note.message);
}

/* Reports the defects that the reader has already found. */
static void warn_problems(struct answer *a, const struct dump *d)
{
	const struct problems *p = &d->problems;

	EACH (const struct problem_count, k, p->counts.v, p->counts.n) {
		uint64_t shown = 0;

		if (k->weight == WEIGHT_INFO)
			continue;
		for (size_t j = 0; j < p->v.n && shown < WARNINGS_SHOWN; j++) {
			const struct problem *x = &p->v.v[j];

			if (x->note.weight != k->weight || strcmp(x->note.code, k->code) != 0)
				continue;
			shown++;
			warn_problem(a, d, x);
		}
		if (k->n > shown)
			answer_warn(a, "%s: %llu more like that (%s)", d->manifest,
				(unsigned long long)(k->n - shown), k->code);
		if (k->weight == WEIGHT_ERROR)
			a->n_losses++;
	}
}

static struct dump *open_records(
	struct answer *a, const char *path, const struct dump_source *s, struct incore_error *e)
{
	static const struct option_def layout = {OPT_RECORDS, DEVICE_LAYOUT_CHOICES, NULL, ""};
	struct str word = option_choice(&layout, s->layout);
	const char *name = arena_strndup(&a->arena, word.p, word.n);

	return name ? dump_open_records(path, name, s->arena, e) : err_nomem_null(e);
}

bool dump_ask_open_quietly(struct answer *a, const char *path, const struct dump_source *s,
	struct dump **out, struct incore_error *e)
{
	if (s->arena && s->layout == NO_CHOICE)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--arena: belongs to device records (--records)");
	*out = s->layout != NO_CHOICE ? open_records(a, path, s, e)
				      : dump_open(path, s->follow_links, e);
	return *out && ANSWER_KEEP(a, *out, dump_free, e);
}

bool dump_ask_open(struct answer *a, const char *path, const struct dump_source *s,
	struct dump **out, struct incore_error *e)
{
	if (!dump_ask_open_quietly(a, path, s, out, e))
		return false;
	warn_problems(a, *out);
	return true;
}

static bool bad_value(const char *name, const char *want, const char *found, struct incore_error *e)
{
	return err_set(e, INCORE_USAGE, "bad-option-value", "--%s: expected %s, found '%s'", name,
		want, found);
}

static bool bad_number(const char *name, const char *want, uint64_t found, struct incore_error *e)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)found);
	return bad_value(name, want, text, e);
}

static bool add_indices(
	const struct text_list *given, struct dump_select *s, struct incore_error *e)
{
	for (size_t i = 0; i < given->n; i++) {
		uint64_t v;

		if (!str_to_u64(str_of(given->v[i]), &v) || v >= DUMP_NONE)
			return bad_value("index", "a manifest index", given->v[i], e);
		if (!VEC_PUSH(&s->indices, (uint32_t)v))
			return err_nomem(e);
	}
	return true;
}

static bool take_dtype(const char *name, struct dump_select *s, struct incore_error *e)
{
	if (!name)
		return true;
	s->dtype = dtype_of_name(name, strlen(name));
	return s->dtype != DTYPE_UNKNOWN || strcmp(name, "UNKNOWN") == 0 ||
	       bad_value("dtype", "one of " DTYPE_CHOICES, name, e);
}

static int yes_or_no(unsigned choice)
{
	return choice == NO_CHOICE ? -1 : choice == 0;
}

_Static_assert(NO_CHOICE == SELECT_ANY, "an option that is not given selects everything");

bool dump_ask_select(const struct request *r, const struct dump_filter *f, struct dump_select *s,
	struct incore_error *e)
{
	dump_select_init(s);
	s->has_task = f->task != NULL;
	if (f->task && !dump_task_parse(f->task, &s->task))
		return bad_value(
			"task", "a task id like 0x200000009, 8589934601 or 2:9", f->task, e);
	s->has_dispatch = request_given(r, &f->dispatch);
	s->dispatch = f->dispatch;
	s->has_func = request_given(r, &f->func);
	if (s->has_func && f->func > INT32_MAX)
		return bad_number("func", "a func id", f->func, e);
	s->func = (int32_t)f->func;
	if (request_given(r, &f->slot)) {
		if (f->slot >= SELECT_ANY)
			return bad_number("arg", "a slot number", f->slot, e);
		s->slot = (uint32_t)f->slot;
	}
	s->stage = f->stage;
	s->role = f->role;
	s->kind = f->kind;
	s->has_payload = yes_or_no(f->payload);
	s->is_contiguous = yes_or_no(f->contiguous);
	s->kernel = f->kernel;
	return take_dtype(f->dtype, s, e) && add_indices(&f->indices, s, e);
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
	char typed[ELEMENT_TEXT], as_float[ELEMENT_TEXT];

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

void dump_page_head(struct page *p, const struct dump *d)
{
	char gen[16], level[24];

	page_say(p, "%s, %s, %s, level %s, ", COUNTED(d->records.n, "record"),
		COUNTED(d->tasks.n, "task"), dump_generation_name(d, gen),
		dump_level_name(d, level));
	if (!d->payload)
		page_say(p, "no payload file");
	else if (d->is_payload_missing)
		page_say(p, "payload file missing");
	else
		page_say(p, "%s of payload", COUNTED(d->bytes.size, "byte"));
	page_line(p, "%s%s", d->is_repaired ? ", repaired" : "", d->deps ? ", with deps.json" : "");
}
