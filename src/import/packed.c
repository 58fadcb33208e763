/* SPDX-License-Identifier: Apache-2.0 */
/* packed.c: the packed file (.incore) as an input format; the format itself is implemented in
 * trace/. */
#include "import/import.h"

#include "trace/packed.h"
#include "trace/packed_file.h"

static void take_summary(const struct packed_summary *s, struct arena *a, struct capture *c)
{
	c->agent = s->agent;
	c->dispatch = s->dispatch;
	c->is_empty = s->n_tracks == 0 && !s->has_samples;
	c->n_tracks = s->n_tracks;
	c->n_rows = s->n_code;
	c->n_mapped = s->n_mapped;
	c->same_as = arena_printf(
		a, "packed %lld %016llx", (long long)s->agent, (unsigned long long)s->code_key);
}

static void packed_file_look(
	const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	struct import_options o = {.cache = cache, .is_look = true};
	struct file_data f = {0};
	struct packed_summary s;

	if (import_load(&o, &f, path, NULL) &&
		packed_look((struct str){(const char *)f.data, f.size}, path, &s, NULL))
		take_summary(&s, a, c);
	file_unload(&f);
}

static void packed_import_look_at_trace(const struct trace *t, struct arena *a, struct capture *c)
{
	struct packed_summary s;

	packed_look_at_trace(t, &s);
	take_summary(&s, a, c);
}

static bool packed_file_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct file_data f = {0};
	uint32_t skip = 0;

	if (!(o->want & IMPORT_OCCUPANCY))
		skip |= 1u << PACKED_OCCUPANCY;
	if (!(o->want & IMPORT_STATED_SERIES))
		skip |= 1u << PACKED_SERIES;
	if (!(o->want & IMPORT_COUNTERS))
		skip |= 1u << PACKED_COUNTERS | 1u << PACKED_MARKERS | 1u << PACKED_OTHER_ISSUES;
	if (!(o->want & IMPORT_SOURCES))
		skip |= 1u << PACKED_SOURCE_TEXTS;
	return import_load(o, &f, path, e) && packed_read_data(f, path, skip, t, e);
}

static const struct signature packed_signs[] = {
	{.begins = PACKED_MAGIC, .score = 100},
	{0},
};

const struct import_ops import_packed = {
	.name = "packed",
	.summary = "packed trace file (.incore), written by `incore pack`",
	.looks_for = "a packed .incore file",
	.signs = packed_signs,
	.look = packed_file_look,
	.look_at_trace = packed_import_look_at_trace,
	.read = packed_file_read,
	.lost = import_lost_noted, /* noted before packing; packing loses nothing */
};
