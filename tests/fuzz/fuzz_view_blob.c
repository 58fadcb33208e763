/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_view_blob.c: any bytes as the columns of a report: an error, or a view that answers. */
#include <stdint.h>
#include <stdlib.h>

#include "serve/report/blob.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(struct view *v, const char *target,
	bool (*answer)(
		const struct view *, const struct query *, struct strbuf *, struct incore_error *))
{
	struct incore_error e = {0};
	struct strbuf out = {0};
	struct query q;

	if (query_parse(&q, str_of(target), &e) && view_need(v, view_needs(&q), v, &e))
		answer(v, &q, &out, &e);
	sb_free(&out);
	incore_error_clear(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct incore_error e = {0};
	struct blob_view b;

	if (!blob_read(data, size, &b, &e)) {
		incore_error_clear(&e);
		return 0;
	}
	ask(&b.view, "/api/1/tile?tracks=0&level=4&i=0", view_tile);
	ask(&b.view, "/api/1/tile?tracks=0&level=7&i=1&mode=cause", view_tile);
	ask(&b.view, "/api/1/tile?tracks=0&level=3&i=0&mode=bucket", view_tile);
	ask(&b.view, "/api/1/slices?track=0", view_slices);
	ask(&b.view, "/api/1/at?track=0&slice=0", view_at);
	ask(&b.view, "/api/1/links?tracks=0", view_links);
	ask(&b.view, "/api/1/select?by=line", view_select);
	ask(&b.view, "/api/1/select?by=cause&t0=5&t1=900", view_select);
	ask(&b.view, "/api/1/select?by=row&causes=1", view_select);
	ask(&b.view, "/api/1/find?q=a&in=isa,source,tracks,kernels,markers", view_find);
	ask(&b.view, "/api/1/histogram?code=0", view_histogram);
	ask(&b.view, "/api/1/code", view_code);
	ask(&b.view, "/api/1/counters", view_counters);
	blob_view_deinit(&b);
	return 0;
}
