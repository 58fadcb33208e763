/* SPDX-License-Identifier: Apache-2.0 */
/* note.c: the words of notes, and what their kinds mean. */
#include "base/note.h"

#include <stddef.h>

const char *const note_kind_words[] = {
	[NOTE_LOST] = "lost",
	[NOTE_TRUNCATED] = "truncated",
	[NOTE_UNMAPPED] = "unmapped",
	[NOTE_CLAMPED] = "clamped",
	[NOTE_CONTRADICTORY] = "contradictory",
	[NOTE_GUESSED] = "guessed",
	[NOTE_MISSING] = "missing",
	[NOTE_DAMAGED] = "damaged",
	[NOTE_INFO] = "info",
	NULL,
};

const char *note_kind_name(enum note_kind k)
{
	return (unsigned)k < NOTE_KINDS ? note_kind_words[k] : "unknown";
}

const char *note_weight_name(enum note_weight w)
{
	static const char *const names[NOTE_WEIGHTS] = {"info", "warning", "error"};

	return names[w];
}

enum note_weight note_kind_weight(enum note_kind k)
{
	return k == NOTE_INFO ? WEIGHT_INFO : WEIGHT_WARNING;
}

bool note_is_loss(const struct note *n)
{
	return n->kind != NOTE_INFO && n->kind != NOTE_GUESSED;
}
