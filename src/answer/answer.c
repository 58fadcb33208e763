/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c: finds and asks a question; memory and warnings of an answer. */
#include "answer/answer.h"

#include <stdarg.h>
#include <string.h>

static bool is_name(const char *known, const char *name)
{
	while (*known && (*known == *name || (*known == ' ' && *name == '_'))) {
		known++;
		name++;
	}
	return !*known && !*name;
}

const struct question *question_find(const char *name)
{
	for (const struct question *const *q = question_table; *q; q++)
		if (is_name((*q)->name, name))
			return *q;
	return NULL;
}

const char *question_word(const char *name, char *buf, size_t size)
{
	snprintf(buf, size, "%s", name);
	for (char *p = buf; *p; p++)
		if (*p == ' ')
			*p = '_';
	return buf;
}

bool question_writes_output(const struct question *q)
{
	for (const struct option_def *d = q->options; d && d->name; d++)
		if (d->names_file >= NAMES_PRODUCT)
			return true;
	return false;
}

const struct question *question_for(const char *name, unsigned reach)
{
	const struct question *q = question_find(name);

	return q && (q->reach & reach) ? q : NULL;
}

bool answer_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	*a = (struct answer){.question = r->question, .want = IMPORT_ALL};
	arena_init(&a->arena);
	if (r->question->records)
		a->record = r->question->records[0];
	if (!r->question->ask(r, a, e))
		return false;
	return !a->has_lost_warning || err_nomem(e);
}

void answer_deinit(struct answer *a)
{
	for (size_t i = a->kept.n; i-- > 0;)
		a->kept.v[i].drop(a->kept.v[i].object);
	for (size_t i = 0; i < a->traces.n; i++)
		trace_free(a->traces.v[i]);
	VEC_FREE(&a->kept);
	VEC_FREE(&a->traces);
	VEC_FREE(&a->warnings);
	incore_error_clear(&a->failure);
	arena_deinit(&a->arena);
}

void *answer_alloc(struct answer *a, size_t n, size_t size, struct incore_error *e)
{
	void *p = arena_zalloc(&a->arena, n ? n : 1, size);

	if (!p)
		err_nomem(e);
	return p;
}

void *answer_rows(struct answer *a, struct rows *out, size_t n, size_t size, struct incore_error *e)
{
	*out = (struct rows){answer_alloc(a, n, size, e), n};
	return (void *)out->v;
}

bool answer_keep(struct answer *a, void *object, void (*drop)(void *), struct incore_error *e)
{
	if (!object || VEC_PUSH(&a->kept, (struct kept_object){object, drop}))
		return true;
	drop(object);
	return err_nomem(e);
}

const char *answer_text(struct answer *a, struct strbuf *b, struct incore_error *e)
{
	char *text = b->failed ? NULL : arena_strndup(&a->arena, b->p ? b->p : "", b->n);

	sb_free(b);
	if (!text)
		err_nomem(e);
	return text;
}

bool answer_is(const struct answer *a, const struct record *r)
{
	return a->record == r;
}

void answer_set(struct answer *a, const struct record *r, const void *data)
{
	a->record = r;
	a->data = data;
}

void answer_about(struct answer *a, const struct record *r, const void *input)
{
	a->input_record = r;
	a->input = input;
}

bool answer_may_write(const struct request *r, const struct answer *a, struct incore_error *e)
{
	return !r->is_strict || !a->n_losses ||
	       err_set(e, INCORE_PARTIAL, "partial-input",
		       "%u loss%s in the input, and --strict was asked for", a->n_losses,
		       a->n_losses == 1 ? "" : "es");
}

void answer_move_warnings(struct answer *a, struct answer *from)
{
	for (size_t i = 0; i < from->warnings.n; i++)
		answer_warn(a, "%s", from->warnings.v[i]);
	a->n_notes += from->n_notes;
	a->n_losses += from->n_losses;
	a->has_lost_warning |= from->has_lost_warning;
	from->warnings.n = 0;
	from->n_notes = from->n_losses = 0;
}

void answer_warn_unread(struct answer *a, uint64_t n)
{
	if (!n)
		return;
	a->n_losses++;
	answer_warn(a,
		"%llu track%s could not be read: the timeline lacks %s (incore check says more)",
		(unsigned long long)n, plural(n), n == 1 ? "it" : "them");
}

void answer_warn(struct answer *a, const char *fmt, ...)
{
	struct strbuf text = {0};
	char *copy;
	va_list ap;

	va_start(ap, fmt);
	sb_vprintf(&text, fmt, ap);
	va_end(ap);
	copy = text.failed ? NULL : arena_strndup(&a->arena, text.p, text.n);
	if (!copy || !VEC_PUSH(&a->warnings, copy))
		a->has_lost_warning = true;
	sb_free(&text);
}
