/* SPDX-License-Identifier: Apache-2.0 */
/* view_source.c: the text of a source file, by its number: no path ever comes from a request. */
#include "serve/view/view.h"

bool view_source(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	const struct trace *t = v->trace;
	uint64_t i;

	if (!query_number(q, "file", QUERY_NEEDED, UINT32_MAX, &i, e))
		return false;
	if (i >= t->n_sources)
		return err_set(e, INCORE_NO, "no-source", "there is no source of that number");
	if (!t->sources[i].text)
		return err_set(e, INCORE_NO, "no-text", "the capture has no copy of %s",
			t->sources[i].path);
	return sb_reserve(out, 0) && sb_add(out, t->sources[i].text, t->sources[i].text_len)
		       ? true
		       : err_nomem(e);
}
