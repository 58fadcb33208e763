/* SPDX-License-Identifier: Apache-2.0 */
/* request.c: the options that questions share, and setting of options. */
#include "answer/request.h"

#include <string.h>

#include "answer/answer.h"
#include "answer/captures.h"
#include "base/process.h"
#include "base/vec.h"
#include "codec/json_reader.h"

#define LEVEL(I, NAME, HELP)                                                                       \
	{                                                                                          \
		NAME, NULL, NULL, HELP, OPTION_ALL(request, level[I])                              \
	}

const struct option_def request_select_options[] = {
	LEVEL(0, OPT_SE, "only these shader engines: 0,2-3"),
	LEVEL(1, OPT_CU, "only these compute units"),
	LEVEL(2, OPT_SIMD, "only these SIMDs"),
	LEVEL(3, OPT_SLOT, "only these wave slots"),
	LEVEL(4, OPT_WAVE, "only these wave numbers of a slot"),
	LEVEL(5, OPT_CORE, "Ascend: only these cores: 0,2-3"),
	LEVEL(6, OPT_UNIT, "Ascend: only these units: cube,vec0,vec1"),
	LEVEL(7, OPT_PIPE, "Ascend: only these pipes: MTE2,CUBE"),
	{OPT_FROM, NULL, NULL, "use cycles from this one on (0: first wave starts)",
		OPTION_ALL(request, from)},
	{OPT_TO, NULL, NULL, "use cycles before this one", OPTION_ALL(request, to)},
	{OPT_KERNEL, NULL, NULL, "use only kernels whose name matches",
		OPTION_ALL(request, kernel)},
	OPTION_END,
};
const char *const request_level_names[REQUEST_LEVELS] = {
	"se", "cu", "simd", "slot", "wave", "core", "unit", "pipe"};

const struct option_def request_top_options[] = {
	{OPT_TOP, NULL, "20", "how many rows to show", OPTION_ALL(request, top)},
	OPTION_END,
};

const struct option_def request_capture_options[] = {
	{OPT_AGENT, NULL, NULL, "use the capture of this agent if there are several",
		OPTION_FIELD(request, agent), .reach = REACH_AGENT},
	{OPT_DISPATCH, NULL, NULL, "use the capture of this dispatch if there are several",
		OPTION_FIELD(request, dispatch), .reach = REACH_AGENT},
	{OPT_SOC, NULL, NULL, "Ascend: the chip, for its clock (910B1, 9599)",
		OPTION_FIELD(request, soc), .reach = REACH_AGENT},
	{OPT_CLOCK, NULL, NULL, "Ascend: clock frequency, if no file states it",
		OPTION_FIELD(request, clock_mhz), .reach = REACH_AGENT},
	{OPT_DECODER_COMPAT, "0.1.6", NULL,
		"raw AMD traces: decode as this version of AMD's decoder does",
		OPTION_FIELD(request, decoder_compat), .reach = REACH_AGENT},
	{OPT_MARKERS, NULL, NULL, OPTION_INSTEAD "waves: its markers (s_ttracedata) as a timeline",
		OPTION_FIELD(request, markers), .reach = REACH_AGENT, .only_named = true},
	{OPT_CODE, NULL, NULL,
		"code of the instructions: this (ui_output), what streams lack (sqtt)",
		OPTION_FIELD(request, code), .only_named = true},
	{OPT_SOURCE_ROOT, NULL, NULL,
		OPTION_INSTEAD "missing copies: sources that were below OLD, now below NEW",
		OPTION_FIELD(request, source_roots), .only_named = true},
	{OPT_FOLLOW_LINKS, NULL, NULL,
		OPTION_INSTEAD "files alone: also what its links point to outside of it",
		OPTION_FIELD(request, follow_links), .only_named = true},
	OPTION_END,
};

bool request_init(struct request *r, const struct question *q, struct incore_error *e)
{
	void *params = mem_zalloc(1, q->params_size ? q->params_size : 1);

	if (!params)
		return err_nomem(e);
	options_reset(q->options, params);
	*r = (struct request){
		.question = q, .params = params, .kernel_id = NO_KERNEL_ID, .to_name = "to"};
	options_reset(request_select_options, r);
	options_reset(request_top_options, r);
	options_reset(request_capture_options, r);
	return true;
}

void request_deinit(struct request *r)
{
	if (r->params)
		options_deinit(r->question->options, (void *)r->params);
	mem_free((void *)r->params);
	r->params = NULL;
	options_deinit(request_capture_options, r);
}

bool request_read_as(struct request *r, const struct request *like, struct incore_error *e)
{
	r->agent = like->agent;
	r->dispatch = like->dispatch;
	r->clock_mhz = like->clock_mhz;
	r->soc = like->soc;
	r->decoder_compat = like->decoder_compat;
	r->code = like->code;
	for (size_t i = 0; i < like->source_roots.n; i++)
		if (!VEC_PUSH(&r->source_roots, like->source_roots.v[i]))
			return err_nomem(e);
	return true;
}

static const struct option_def *shared_option(const struct question *q, const char *name)
{
	const struct option_def *d = NULL;

	if (q->groups & OPTIONS_SELECT)
		d = option_find(request_select_options, name);
	if (!d && (q->groups & OPTIONS_TOP))
		d = option_find(request_top_options, name);
	if (!d && (q->groups & OPTIONS_CAPTURE))
		d = option_find(request_capture_options, name);
	return d;
}

/* The question's own option of that name, or the one that the name is an alias of. */
static const struct option_def *own_option(const struct question *q, const char *name)
{
	const struct option_def *own = option_find(q->options, name);

	return own && own->alias_of ? option_find(q->options, own->alias_of) : own;
}

const struct option_def *request_option(const struct question *q, const char *name)
{
	const struct option_def *own = own_option(q, name);

	return own ? own : shared_option(q, name);
}

bool request_set(struct request *r, const char *name, const char *value, struct incore_error *e)
{
	const struct option_def *own = own_option(r->question, name);
	const struct option_def *d = own ? own : shared_option(r->question, name);

	if (!d)
		return err_set(e, INCORE_USAGE, "unknown-option", "%s has no option %s",
			r->question->name, name);
	if (d->type != OPTION_FLAG && !option_check(d, value, e))
		return false;
	if (!option_store(d, value ? value : "", own ? (void *)r->params : (void *)r))
		return err_nomem(e);
	if (own)
		r->given |= UINT64_C(1) << (own - r->question->options);
	return true;
}

bool request_given(const struct request *r, const void *field)
{
	const struct option_def *own = r->question->options;
	size_t offset = (size_t)((const char *)field - (const char *)r->params);

	for (unsigned i = 0; own && own[i].name; i++)
		if (own[i].is_stored && own[i].offset == offset && (r->given >> i & 1))
			return true;
	return false;
}

bool request_is_cancelled(void *request)
{
	const struct request *r = request;

	return (r->signals && r->signals->is_held(NULL)) || progress_is_cancelled(r->progress);
}

uint64_t request_top(const struct request *r, uint64_t people, uint64_t programs)
{
	if (r->top == NO_COUNT)
		return r->is_for_people ? people : programs;
	return r->top == TOP_ALL ? UINT64_MAX : r->top;
}

/* --- as words of a command --- */

static void put_word(const struct option_def *d, const char *value, struct strbuf *out)
{
	const char *words[] = {value, NULL};

	sb_printf(out, " --%s ", d->name);
	process_quote(words, out);
}

static void put_count(const struct option_def *d, uint64_t value, struct strbuf *out)
{
	if (d->type == OPTION_TOP && value == TOP_ALL)
		sb_printf(out, " --%s all", d->name);
	else if (value != NO_COUNT)
		sb_printf(out, " --%s %llu", d->name, (unsigned long long)value);
}

static void put_option(const struct option_def *d, const void *fields, struct strbuf *out)
{
	const char *field = (const char *)fields + d->offset;
	const struct text_list *many = (const struct text_list *)field;
	const char *text;
	unsigned choice;

	switch (d->type) {
	case OPTION_FLAG:
		if (*(const bool *)field)
			sb_printf(out, " --%s", d->name);
		break;
	case OPTION_TEXT:
		if ((text = *(const char *const *)field))
			put_word(d, text, out);
		break;
	case OPTION_CHOICE:
		if ((choice = *(const unsigned *)field) != NO_CHOICE)
			sb_printf(out, " --%s %.*s", d->name, STR_ARG(option_choice(d, choice)));
		break;
	case OPTION_MANY:
		for (size_t i = 0; i < many->n; i++)
			put_word(d, many->v[i], out);
		break;
	default:
		put_count(d, *(const uint64_t *)field, out);
	}
}

void request_put_own(const struct request *r, const void *except, struct strbuf *out)
{
	const struct option_def *own = r->question->options;
	const char *params = r->params;

	for (unsigned i = 0; own && own[i].name; i++)
		if (own[i].is_stored && (r->given >> i & 1) && params + own[i].offset != except)
			put_option(&own[i], r->params, out);
}

void request_put_reading(const struct request *r, struct strbuf *out)
{
	for (const struct option_def *d = request_capture_options; d->name; d++)
		put_option(d, r, out);
}

/* --- as JSON --- */

static bool set_text(struct request *r, const char *name, struct json_reader *j, struct arena *a,
	struct incore_error *e)
{
	struct str s;
	char *copy;

	if (!json_get_str(j, &s))
		return false;
	copy = arena_strndup(a, s.p, s.n);
	return copy ? request_set(r, name, copy, e) : err_nomem(e);
}

static bool set_number(struct request *r, const char *name, struct json_reader *j, struct arena *a,
	struct incore_error *e)
{
	uint64_t v;
	char *copy;

	if (!json_get_u64(j, &v))
		return false;
	copy = arena_printf(a, "%llu", (unsigned long long)v);
	return copy ? request_set(r, name, copy, e) : err_nomem(e);
}

static bool set_flag(
	struct request *r, const char *name, struct json_reader *j, struct incore_error *e)
{
	bool v;

	if (!json_get_bool(j, &v))
		return false;
	return !v || request_set(r, name, NULL, e);
}

static bool set_many(struct request *r, const char *name, struct json_reader *j, struct arena *a,
	struct incore_error *e)
{
	json_enter_array(j);
	while (json_next_item(j))
		if (!set_text(r, name, j, a, e))
			return false;
	return true;
}

static bool set_one(struct request *r, struct str key, struct json_reader *j, struct arena *a,
	struct incore_error *e)
{
	const char *name = arena_strndup(a, key.p, key.n);
	const struct option_def *d = name ? request_option(r->question, name) : NULL;

	if (!name)
		return err_nomem(e);
	if (!d)
		return err_set(e, INCORE_USAGE, "unknown-option", "%s has no option '%s'",
			r->question->name, name);
	if (d->type == OPTION_FLAG)
		return set_flag(r, name, j, e);
	switch (json_peek(j)) {
	case JSON_STRING:
	case JSON_INVALID: /* the reader reports the error */
		return set_text(r, name, j, a, e);
	case JSON_NUMBER:
		return set_number(r, name, j, a, e);
	case JSON_ARRAY:
		if (d->type == OPTION_MANY)
			return set_many(r, name, j, a, e);
		break;
	default:
		break;
	}
	return json_reject(j, "bad-type", "option %s expects a text or a number", name);
}

bool request_set_json(
	struct request *r, const char *options, struct arena *a, struct incore_error *e)
{
	struct json_reader j;
	struct strbuf text = {0};
	struct str key;
	bool ok = true;

	captures_follow_links(r->captures, false);
	if (!options)
		return true;
	/* the reader needs some bytes after the text */
	if (!sb_puts(&text, options) || !sb_reserve(&text, JSON_PAD)) {
		sb_free(&text);
		return err_nomem(e);
	}
	memset(text.p + text.n, 0, JSON_PAD);
	json_init(&j, text.p, text.n, NULL, 0);
	for (json_enter_object(&j); ok && json_next_key(&j, &key);)
		ok = set_one(r, key, &j, a, e) && !j.is_failed;
	if (ok || j.is_failed)
		ok = json_finish(&j, e) || err_wrap(e, "reading the options");
	if (!ok && e->status == INCORE_BAD_INPUT)
		e->status = INCORE_USAGE;
	if (ok)
		captures_follow_links(r->captures, r->follow_links);
	json_deinit(&j);
	sb_free(&text);
	return ok;
}
