/* SPDX-License-Identifier: Apache-2.0 */
/* man_page.c: the man pages that are part of the program, as text, for machines without man. */
#include "base/asset.h"
#include "base/str.h"
#include "cli/options.h"

/* Made from man/ at build time (tools/man_text.py): each page follows a form feed and a line with
 * its name. */
extern const struct asset man_assets[];

/* "incore-hot.1" may be requested as hot, incore-hot or incore-hot.1. */
static bool is_asked(struct str name, const char *page)
{
	struct str stem = str_sub(name, 0, name.n > 2 ? name.n - 2 : 0);

	return str_is(name, page) || str_is(stem, page) ||
	       (str_starts(stem, "incore-") && str_is(str_sub(stem, 7, stem.n), page));
}

bool man_print(FILE *out, const char *page)
{
	struct str rest = {(const char *)man_assets[0].data, man_assets[0].size}, text, name;

	while (str_cut(&rest, "\f", &text)) {
		if (!str_cut(&text, "\n", &name) || !is_asked(name, page))
			continue;
		fwrite(text.p, 1, text.n, out);
		return true;
	}
	return false;
}
