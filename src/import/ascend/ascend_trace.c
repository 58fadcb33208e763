/* SPDX-License-Identifier: Apache-2.0 */
/* ascend_trace.c: a single trace.json of the op simulator: of a run, of one core, or cleaned. */
#include "import/ascend/ascend.h"
#include "import/event_lanes.h"

/* Decides by the first bytes: typical keys of the object, or events with known lanes. */
static int ascend_trace_sniff(const struct probe *p)
{
	struct str head = {(const char *)p->head, p->head_size};
	const char *base = path_base(p->path);
	bool is_named =
		str_ends(str_of(base), "trace.json") || str_ends(str_of(base), ".clean.json");
	enum event_lanes lanes;

	if (p->is_dir || head.n == 0)
		return 0;
	while (head.n && strchr(" \t\r\n", head.p[0]))
		head = str_sub(head, 1, head.n);
	if (head.n == 0 || (head.p[0] != '{' && head.p[0] != '['))
		return 0;
	if (str_has(head, "\"profilingType\"") && str_has(head, "\"traceEvents\""))
		return 80;
	/* The name alone counts only for small files: other tools use it, too. */
	is_named &= p->head_size < PROBE_HEAD;
	if (head.p[0] == '{' && !str_has(head, "\"traceEvents\""))
		return is_named ? 20 : 0;
	lanes = event_lanes_of(p->head, p->head_size);
	if (lanes == LANES_ASCEND)
		return 70;
	return is_named && lanes == LANES_NONE ? 40 : 0;
}

/* "a/core0.veccore1/trace.json" and "core0.cubecore0.trace.json" name the core of a per-core file.
 */
const char *asc_unit_of_path(struct arena *a, const char *path)
{
	struct str s = str_of(path), part;
	struct ascend_unit u;
	const char *found = NULL;

	while (str_cut(&s, "/", &part)) {
		ptrdiff_t cut = str_find(part, "_");

		if (str_ends(part, ".trace.json"))
			part.n -= strlen(".trace.json");
		else if (cut > 0)
			part.n = (size_t)cut;
		if (ascend_unit_of(part, &u))
			found = arena_strndup(a, part.p, part.n);
	}
	return found;
}

static bool read_file(
	struct asc_build *b, struct file_data *f, const char *path, struct incore_error *e)
{
	if (!import_load(b->options, f, path, e))
		return false;
	b->file = f;
	b->unit = asc_unit_of_path(&b->trace->arena, path);
	return asc_read_events(b, (struct str){(const char *)f->data, f->size}, path, 0, e) &&
	       asc_finish(b, e);
}

static bool ascend_trace_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct asc_build b;
	struct file_data f = {0};
	bool ok = asc_init(&b, t, o, e) && read_file(&b, &f, path, e);

	asc_deinit(&b);
	file_unload(&f);
	return ok;
}

static bool ascend_trace_lost(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	(void)o;
	return trace_note(t, NOTE_MISSING, "lone-trace", path, INCORE_NO_OFFSET, 1,
		       "a trace.json alone: no sources and nothing stated per instruction") ||
	       err_nomem(e);
}

const struct import_ops import_ascend_trace = {
	.name = "ascend_trace",
	.summary = "Ascend trace.json, of msprof op simulator: of a run or of one core",
	.looks_for = "a trace.json of msprof op simulator",
	.sniff = ascend_trace_sniff,
	.look = asc_look,
	.read = ascend_trace_read,
	.lost = ascend_trace_lost,
};
