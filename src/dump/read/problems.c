/* SPDX-License-Identifier: Apache-2.0 */
/* problems.c: what is wrong with a dump: kept up to a limit per code, counted beyond it. */
#include "dump/read/problems.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

void problems_init(struct problems *p)
{
	*p = (struct problems){0};
	arena_init(&p->arena);
}

void problems_deinit(struct problems *p)
{
	VEC_FREE(&p->v);
	VEC_FREE(&p->counts);
	arena_deinit(&p->arena);
}

static struct problem_count *dump_problems_count_of(
	struct problems *p, const char *code, enum note_weight weight)
{
	for (size_t i = 0; i < p->counts.n; i++)
		if (strcmp(p->counts.v[i].code, code) == 0 && p->counts.v[i].weight == weight)
			return &p->counts.v[i];
	if (!VEC_PUSH(&p->counts, (struct problem_count){code, weight, 0}))
		return NULL;
	return &p->counts.v[p->counts.n - 1];
}

void problems_add(struct problems *p, enum note_weight weight, const char *code, struct problem at,
	const char *fmt, ...)
{
	struct problem_count *c = dump_problems_count_of(p, code, weight);
	char text[400];
	va_list ap;

	if (!c) {
		p->is_failed = true;
		return;
	}
	if (c->n++ >= PROBLEMS_KEPT)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	at.note.code = code;
	at.note.weight = weight;
	at.note.count = 1;
	at.note.message = arena_strdup(&p->arena, text);
	if (!at.note.message || !VEC_PUSH(&p->v, at))
		p->is_failed = true;
}

uint64_t problems_count(const struct problems *p, enum note_weight weight)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->counts.n; i++)
		if (p->counts.v[i].weight == weight)
			n += p->counts.v[i].n;
	return n;
}

uint64_t problems_of(const struct problems *p, const char *code)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->counts.n; i++)
		if (strcmp(p->counts.v[i].code, code) == 0)
			n += p->counts.v[i].n;
	return n;
}

const char *problem_weight_name(enum note_weight weight)
{
	static const char *const names[] = {
		[WEIGHT_INFO] = "note",
		[WEIGHT_WARNING] = "warning",
		[WEIGHT_ERROR] = "defect",
	};

	return names[weight];
}
