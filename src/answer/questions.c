/* SPDX-License-Identifier: Apache-2.0 */
/* questions.c: the only list of questions. */
#include <string.h>

#include "answer/answer.h"

#define QUESTIONS                                                                                  \
	Q(advise)                                                                                  \
	Q(check) Q(diff) Q(hot) Q(info) Q(isa) Q(occupancy) Q(summary) Q(waves) Q(whatif) Q(why)

#define Q(name) extern const struct question question_##name;
QUESTIONS
#undef Q
#define Q(name) &question_##name,
const struct question *const question_table[] = {QUESTIONS NULL};

const struct question *question_find(const char *name)
{
	for (const struct question *const *q = question_table; *q; q++)
		if (strcmp((*q)->name, name) == 0)
			return *q;
	return NULL;
}

const struct question *question_for(const char *name, unsigned reach)
{
	const struct question *q = question_find(name);

	return q && (q->reach & reach) ? q : NULL;
}
