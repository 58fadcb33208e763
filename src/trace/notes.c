/* SPDX-License-Identifier: Apache-2.0 */
/* notes.c: the rows of notes.h, by their code. */
#include "trace/notes.h"

#include <stddef.h>
#include <string.h>

#include "base/vec.h"

#define NOTE_ROW(CODE, KIND, MEANING, ADVICE) {CODE, NOTE_##KIND, ADVICE},

const struct note_entry *note_row(const char *code)
{
	static const struct note_entry rows[] = {NOTES(NOTE_ROW)};

	EACH (const struct note_entry, r, rows, sizeof(rows) / sizeof(*rows))
		if (strcmp(r->code, code) == 0)
			return r;
	return NULL;
}
