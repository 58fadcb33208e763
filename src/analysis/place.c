/* SPDX-License-Identifier: Apache-2.0 */
/* place.c: where a row of code stands, in words. */
#include "analysis/place.h"

#include "trace/kind.h"

static void put_frame(
	const struct trace *t, const struct frame *f, const char *before, struct strbuf *out)
{
	struct str path;

	if (f->source >= t->n_sources)
		return;
	path = str_of(t->sources[f->source].path);
	path = str_sub(path, (size_t)(str_rfind_char(path, '/') + 1), path.n);
	sb_printf(out, "%s%.*s:%u", before, STR_ARG(path), f->line);
}

void place_put_line(
	const struct trace *t, const struct code_row *r, const char *before, struct strbuf *out)
{
	const struct frame *f = r->n_frames ? &t->frames[r->first_frame] : NULL;

	if (!f)
		return;
	put_frame(t, f, before, out);
	if (trace_kind(t) == KIND_SAMPLES && f[r->n_frames - 1].source != f->source)
		put_frame(t, &f[r->n_frames - 1], " in ", out);
}

bool place_put(const struct trace *t, code_idx code, struct strbuf *out)
{
	const struct code_row *r;

	if (code >= t->n_code)
		return sb_puts(out, "unknown code");
	r = &t->code[code];
	sb_printf(out, "row %lld (0x%llx", (long long)r->number, (unsigned long long)r->address);
	place_put_line(t, r, ", ", out);
	sb_putc(out, ')');
	return !out->failed;
}
