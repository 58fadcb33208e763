/* SPDX-License-Identifier: Apache-2.0 */
/* folded.c: one line per stack, for flame graphs: "kernel;a.py:12;s_waitcnt ...;wait:LDS 1234". See
 * incore-folded(7). */
#include "export/profile/profile.h"

/* Writes a frame without the characters that separate frames and lines. */
static void folded_put_frame(FILE *f, struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		putc(name.p[i] == ';' ? ',' : (unsigned char)name.p[i] < ' ' ? ' ' : name.p[i], f);
}

static bool folded_put_stack(
	struct profile_sums *p, FILE *f, const struct profile_line *l, struct incore_error *e)
{
	uint32_t n;
	const struct frame *frames = profile_frames(p, l, &n);

	folded_put_frame(f, str_of(profile_kernel(p)));
	while (n--) {
		const char *name = profile_frame_name(p, &frames[n]);

		if (!name)
			return err_nomem(e);
		putc(';', f);
		folded_put_frame(f, str_of(name));
	}
	putc(';', f);
	folded_put_frame(f, profile_instruction(p, l));
	putc(';', f);
	folded_put_frame(f, str_of(l->cause));
	fprintf(f, " %llu\n", (unsigned long long)l->cyc);
	return true;
}

static bool folded_end(struct export *x, struct incore_error *e)
{
	struct profile_sums *p = x->state;

	EACH (const struct profile_line, l, p->lines.v, p->lines.n)
		if (l->cyc && !folded_put_stack(p, x->file.f, l, e))
			return false;
	return !ferror(x->file.f) || err_write(e);
}

const struct export_ops export_folded = {
	.name = "folded",
	.suffix = ".folded",
	.media_type = "text/plain",
	.summary = "cycles by cause over inline stacks, a line a stack (flame graphs)",
	.holds = EXPORT_CYCLES | EXPORT_SAMPLES,
	.takes_weight = true,
	PROFILE_WRITER(folded),
};
