/* SPDX-License-Identifier: Apache-2.0 */
/* style.c: style marks in a page, and terminal escape codes. */
#include "page/style.h"

#define STYLES (CELL_BAD + 1)

static const char *const marks[STYLES] = {
	[CELL_PLAIN] = "",
	[CELL_DIM] = "\002",
	[CELL_HOT] = "\003",
	[CELL_WARM] = "\004",
	[CELL_GOOD] = "\005",
	[CELL_BAD] = "\006",
};
const char style_mark_end[] = "\007";

static const char *const codes[STYLES] = {
	[CELL_PLAIN] = "",
	[CELL_DIM] = "\033[2m",
	[CELL_HOT] = "\033[1;31m",
	[CELL_WARM] = "\033[33m",
	[CELL_GOOD] = "\033[32m",
	[CELL_BAD] = "\033[31m",
};
const char style_code_end[] = "\033[0m";

const char *style_mark(enum cell_style style)
{
	return marks[style];
}

const char *style_code(enum cell_style style)
{
	return codes[style];
}

void sb_unstyled(struct strbuf *out, const char *text)
{
	static const char every_mark[] = "\001\002\003\004\005\006\007";

	while (*text) {
		size_t n = strcspn(text, every_mark);

		sb_add(out, text, n);
		text += n + (text[n] != 0);
	}
}

bool style_is(const char *text)
{
	for (size_t i = 0; i < STYLES; i++)
		if (text == marks[i] || text == codes[i])
			return true;
	return text == style_mark_end || text == style_code_end;
}
