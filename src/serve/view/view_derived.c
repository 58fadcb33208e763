/* SPDX-License-Identifier: Apache-2.0 */
/* view_derived.c: counters computed from other counters, by definitions that users can write. */
#include "analysis/counters/derived.h"
#include "serve/view/view.h"

#define MAX_POINTS 4000u

/* Did memory run out? That fails the whole answer, not just a definition. */
static bool is_short(const struct derived *d)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (d->v[i].code && strcmp(d->v[i].code, "no-memory") == 0)
			return true;
	return false;
}

bool view_derived(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	const char *text = query_text(q, "d");
	uint64_t defaults, points;
	struct json_writer w;
	struct derived *d;
	bool ok;

	if (!query_number(q, "defaults", 1, 1, &defaults, e) ||
		!query_number(q, "w", 512, MAX_POINTS, &points, e))
		return false;
	d = derived_new(v->trace, str_of(text ? text : ""), defaults != 0, e);
	if (!d)
		return false;
	if (is_short(d)) {
		derived_free(d);
		return err_nomem(e);
	}
	json_w_buf(&w, out, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "schema", "incore.view.derived/1");
	json_w_key(&w, "data");
	derived_json(d, (uint32_t)points, &w);
	json_w_end(&w);
	ok = json_w_finish(&w, e);
	derived_free(d);
	return ok;
}
