/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rgp.c: reads the chunks of a .rgp file: streams, code and other data. All offsets and counts of
 * the file are checked against their chunk.
 */
#include "import/sqtt/rgp.h"

#include "import/capture_cache.h"
#include "import/sqtt/internal.h"
#include "import/sqtt/sqtt.h"

#define MAGIC 0x50303042u
#define HEADER_SIZE 56u
#define CHUNK_HEADER 16u
#define TABLE_HEADER 32u /* of chunks with records */
#define SYNTHETIC_NAME "incore synthetic"
/* Mesa writes this if the shader clock is unknown, because the profiler requires one. */
#define STAND_IN_HZ 1300000000u

struct chunk {
	uint64_t at; /* in the file */
	unsigned type, index, major;
	const uint8_t *p;
	uint32_t size; /* with its header */
};

static uint32_t u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* --- the machine --- */

enum asic {
	ASIC_SHADER_HZ = 24,
	ASIC_ENGINES = 56,
	ASIC_CUS_PER_ENGINE = 60,
	ASIC_SIMDS_PER_CU = 64,
	ASIC_WAVES_PER_SIMD = 68,
	ASIC_NAME = 152,
	ASIC_NAME_SIZE = 256,
	ASIC_REALTIME_HZ = 424,
	ASIC_MAX_HZ = 432,
	ASIC_SIZE = 440,
	ASIC_CU_MASK = 460, /* 16 bits per shader array */
	ASIC_CU_MASK_END = 588,
};

static int64_t plausible(uint64_t v, uint64_t max)
{
	return v && v <= max ? (int64_t)v : NO_VALUE;
}

static int64_t count_cus(const struct chunk *c)
{
	uint64_t n = 0;

	if (c->size >= ASIC_CU_MASK_END)
		for (unsigned i = ASIC_CU_MASK; i < ASIC_CU_MASK_END; i++)
			n += (uint64_t)__builtin_popcount(c->p[i]);
	return n ? (int64_t)n
		 : plausible((uint64_t)u32(c->p + ASIC_ENGINES) * u32(c->p + ASIC_CUS_PER_ENGINE),
			   1 << 16);
}

static bool take_asic(struct sqtt_build *b, const struct chunk *c, struct incore_error *e)
{
	struct rgp_file *r = b->container.rgp;
	struct trace_machine *m = &r->machine;
	const char *name = (const char *)c->p + ASIC_NAME;
	int64_t simds = plausible(u32(c->p + ASIC_SIMDS_PER_CU), 64);

	r->shader_hz = load64(c->p + ASIC_SHADER_HZ);
	if (r->shader_hz == STAND_IN_HZ || r->shader_hz > UINT32_MAX * (uint64_t)100)
		r->shader_hz = 0;
	r->realtime_hz = load64(c->p + ASIC_REALTIME_HZ);
	m->ses = plausible(u32(c->p + ASIC_ENGINES), SQTT_MAX_SE);
	m->cus = count_cus(c);
	m->simds = m->cus > 0 && simds > 0 ? m->cus * simds : NO_VALUE;
	m->max_waves_per_simd = plausible(u32(c->p + ASIC_WAVES_PER_SIMD), 64);
	m->max_clock_mhz = plausible(load64(c->p + ASIC_MAX_HZ) / 1000000, 100000);
	m->product = arena_strndup(&b->trace->arena, name, strnlen(name, ASIC_NAME_SIZE));
	if (!m->product)
		return err_nomem(e);
	r->is_synthetic = strcmp(m->product, SYNTHETIC_NAME) == 0;
	return true;
}

#define API_TRACE_MODE 544
#define API_SIZE 548

static bool take_api(struct sqtt_build *b, const struct chunk *c, struct incore_error *e)
{
	(void)e;
	b->container.rgp->is_untimed = u32(c->p + API_TRACE_MODE) == 0;
	return true;
}

/* --- streams --- */

/* The generation of an SQTT version; 0: not supported. */
static unsigned major_of_version(uint32_t version)
{
	return version == 0x7 ? 10 : version == 0xb ? 11 : version == 0xc ? 12 : 0;
}

static bool take_desc(struct sqtt_build *b, const struct chunk *c, struct incore_error *e)
{
	struct rgp_file *r = b->container.rgp;
	uint32_t se = u32(c->p + 16), version = u32(c->p + 20);

	if (r->desc_at[c->index])
		return err_file(e, "duplicate-key", r->path, c->at,
			"stream %u is described twice, first at byte %llu", c->index,
			(unsigned long long)r->desc_at[c->index]);
	for (unsigned i = 0; i < RGP_STREAMS; i++)
		if (r->desc_at[i] && r->desc_se[i] == se)
			return err_file(e, "duplicate-key", r->path, c->at + 16,
				"streams %u and %u are both of shader engine %u", i, c->index, se);
	if (se >= SQTT_MAX_SE)
		return err_file(e, "bad-value", r->path, c->at + 16,
			"expected a shader engine below %u, found %u", SQTT_MAX_SE, se);
	if (!major_of_version(version))
		return err_file(e, "bad-version", r->path, c->at + 20,
			"expected a thread trace of version 7 (gfx10), 11 (gfx11) or 12 (gfx12), found %u%s",
			version,
			version == 5 || version == 6
				? ": streams of gfx8 and gfx9 in such files do not say which CU was traced"
				: "");
	r->desc_at[c->index] = c->at;
	r->desc_se[c->index] = se;
	r->desc_major[c->index] = major_of_version(version);
	return true;
}

static bool check_generation(struct rgp_file *r, const struct chunk *c, const uint8_t *data,
	uint32_t size, struct incore_error *e)
{
	struct sqtt_stream s;

	/* A stream that is not a thread trace is left out in decoding: the others may be usable. */
	return !sqtt_recognise(data, size, &s, NULL) || s.gfx_major == r->desc_major[c->index] ||
	       err_file(e, "bad-value", r->path, (uint64_t)(data - r->file.data),
		       "stream %u begins as one of gfx%u, its description says gfx%u", c->index,
		       s.gfx_major, r->desc_major[c->index]);
}

static bool take_data(struct sqtt_build *b, const struct chunk *c, struct incore_error *e)
{
	struct rgp_file *r = b->container.rgp;
	uint64_t offset = u32(c->p + 16), size = u32(c->p + 20), end = c->at + c->size;
	struct sqtt_stream_file f;

	if (!r->desc_at[c->index] || r->has_data[c->index])
		return err_file(e, "duplicate-key", r->path, c->at,
			r->has_data[c->index] ? "stream %u has data twice"
					      : "stream %u has data and no description before it",
			c->index);
	if (offset < c->at + 24 || offset > end || size > end - offset)
		return err_file(e, "bad-value", r->path, c->at + 16,
			"expected data between bytes %llu and %llu, where this chunk is, found %llu bytes at %llu",
			(unsigned long long)c->at + 24, (unsigned long long)end,
			(unsigned long long)size, (unsigned long long)offset);
	f = (struct sqtt_stream_file){.se = r->desc_se[c->index],
		.path = r->path,
		.size = (int64_t)size,
		.data = r->file.data + offset,
		.at = offset};
	r->has_data[c->index] = true;
	return check_generation(r, c, f.data, (uint32_t)size, e) &&
	       (VEC_PUSH(&r->streams, f) || err_nomem(e));
}

/* --- code --- */

static bool take_objects(struct sqtt_build *b, const struct chunk *c, struct incore_error *e)
{
	struct rgp_file *r = b->container.rgp;
	uint32_t n = u32(c->p + 28), at = TABLE_HEADER;

	for (uint32_t i = 0; i < n; i++) {
		struct sqtt_object_file f = {.id = (uint32_t)r->objects.n + 1};
		uint32_t size;

		if (c->size - at < 4 || (size = u32(c->p + at)) > c->size - at - 4)
			return err_file(e, "truncated", r->path, c->at + at,
				"code object %u of %u does not fit in its chunk, which ends at byte %llu",
				i + 1, n, (unsigned long long)c->at + c->size);
		f.bytes = (struct str){(const char *)c->p + at + 4, size};
		f.path = arena_printf(&b->trace->arena, "%s/code-object-%u", r->path, f.id);
		if (f.id > SQTT_MAX_OBJECT)
			return err_file(
				e, "too-large", r->path, c->at + at, "too many code objects");
		if (!f.path || !VEC_PUSH(&r->objects, f))
			return err_nomem(e);
		at += 4 + size;
	}
	return true;
}

/* The number of records; false if they do not fit. */
static bool count_records(const struct rgp_file *r, const struct chunk *c, uint32_t least,
	uint32_t *n, struct incore_error *e)
{
	uint32_t size = u32(c->p + 24);

	*n = u32(c->p + 28);
	if (size < least)
		return err_file(e, "bad-value", r->path, c->at + 24,
			"expected records of %u or more bytes, found %u", least, size);
	return *n <= (c->size - TABLE_HEADER) / size ||
	       err_file(e, "truncated", r->path, c->at + 28,
		       "%u records of %u bytes do not fit in their chunk of %u", *n, size, c->size);
}

static bool take_loads(struct sqtt_build *b, const struct chunk *c, struct incore_error *e)
{
	struct rgp_file *r = b->container.rgp;
	uint32_t n;

	if (!count_records(r, c, 40, &n, e))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *p = c->p + TABLE_HEADER + (size_t)i * u32(c->p + 24);

		if (u32(p))
			r->n_unloads++;
		else if (!VEC_PUSH(&r->loads,
				 (struct rgp_load){load64(p + 8), {load64(p + 16), load64(p + 24)},
					 load64(p + 32)}))
			return err_nomem(e);
	}
	return true;
}

static bool take_psos(struct sqtt_build *b, const struct chunk *c, struct incore_error *e)
{
	struct rgp_file *r = b->container.rgp;
	uint32_t n;

	if (!count_records(r, c, 24, &n, e))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *p = c->p + TABLE_HEADER + (size_t)i * u32(c->p + 24);

		if (!VEC_PUSH(
			    &r->psos, (struct rgp_pso){load64(p), {load64(p + 8), load64(p + 16)}}))
			return err_nomem(e);
	}
	return true;
}

/* --- chunks --- */

#define OTHER_KIND 31u

static const struct kind {
	const char *name;
	bool (*take)(struct sqtt_build *b, const struct chunk *c, struct incore_error *e);
	uint32_t least; /* bytes */
	unsigned major;
} kinds[] = {
	[0] = {"ASIC info", take_asic, ASIC_SIZE, 0},
	[1] = {"stream description", take_desc, 24, 0},
	[2] = {"stream data", take_data, 24, 0},
	[3] = {"API info", take_api, API_SIZE, 0},
	[5] = {"queue timings", NULL, 0, 0},
	[6] = {"clock calibration", NULL, 0, 0},
	[7] = {"CPU info", NULL, 0, 0},
	[8] = {"counters (SPM)", NULL, 0, 0},
	[9] = {"code object database", take_objects, TABLE_HEADER, 0},
	[10] = {"code object loads", take_loads, TABLE_HEADER, 1},
	[11] = {"pipeline correlation", take_psos, TABLE_HEADER, 0},
	[12] = {"instrumentation", NULL, 0, 0},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static bool take_chunk(struct sqtt_build *b, const struct chunk *c, struct incore_error *e)
{
	struct rgp_file *r = b->container.rgp;
	const struct kind *k = &kinds[c->type < N_KINDS ? c->type : 4];

	if (!k->take) {
		r->n_passed++;
		r->passed |= 1u << (k->name ? c->type : OTHER_KIND);
		return true;
	}
	if (c->major != k->major)
		return err_file(e, "bad-version", r->path, c->at + 6,
			"expected version %u of the chunk '%s', found %u", k->major, k->name,
			c->major);
	if (c->size < k->least)
		return err_file(e, "truncated", r->path, c->at + 8,
			"expected %u or more bytes in the chunk '%s', found %u", k->least, k->name,
			c->size);
	return k->take(b, c, e);
}

static bool walk(struct sqtt_build *b, uint64_t at, struct incore_error *e)
{
	struct rgp_file *r = b->container.rgp;

	while (at < r->file.size) {
		uint64_t left = r->file.size - at;
		struct chunk c = {.at = at, .p = r->file.data + at};

		if (left < CHUNK_HEADER)
			return err_file(e, "truncated", r->path, at,
				"expected the header of a chunk, found the last %llu bytes",
				(unsigned long long)left);
		c.type = c.p[0];
		c.index = c.p[1];
		c.major = c.p[6] | (unsigned)c.p[7] << 8;
		c.size = u32(c.p + 8);
		if (c.size < CHUNK_HEADER || c.size > left)
			return err_file(e, c.size > left ? "truncated" : "bad-value", r->path,
				at + 8, "a chunk of %u bytes, of %u to %llu there could be", c.size,
				CHUNK_HEADER, (unsigned long long)left);
		if (!take_chunk(b, &c, e))
			return false;
		at += c.size;
	}
	return true;
}

static bool read_header(const struct rgp_file *r, uint64_t *chunks, struct incore_error *e)
{
	const uint8_t *p = r->file.data;

	if (r->file.size < HEADER_SIZE)
		return err_file(e, "truncated", r->path, r->file.size,
			"expected a header of %u bytes, found %zu", HEADER_SIZE, r->file.size);
	if (u32(p) != MAGIC)
		return err_file(e, "bad-magic", r->path, 0,
			"not a capture of the Radeon GPU Profiler: it begins with %08x", u32(p));
	if (u32(p + 4) != 1)
		return err_file(e, "bad-version", r->path, 4,
			"expected version 1 of the file, found %u", u32(p + 4));
	*chunks = u32(p + 16);
	return (*chunks >= HEADER_SIZE && *chunks <= r->file.size) ||
	       err_file(e, "bad-value", r->path, 16,
		       "expected the first chunk between bytes %u and %zu, found %llu", HEADER_SIZE,
		       r->file.size, (unsigned long long)*chunks);
}

/* Checks that every described stream is there. */
static bool check_streams(const struct rgp_file *r, struct incore_error *e)
{
	for (unsigned i = 0; i < RGP_STREAMS; i++)
		if (r->desc_at[i] && !r->has_data[i])
			return err_file(e, "truncated", r->path, r->desc_at[i],
				"stream %u is described and has no data", i);
	return r->streams.n ||
	       err_file(e, "no-stream", r->path, INCORE_NO_OFFSET,
		       "no thread trace is in this file: was it of a frame with work?");
}

bool rgp_find(struct sqtt_build *b, const char *path, struct incore_error *e)
{
	struct rgp_file *r = arena_zalloc(&b->scratch, 1, sizeof(*r));
	struct sqtt_container *c = &b->container;
	uint64_t chunks;

	if (!r || !(r->path = arena_strdup(&b->trace->arena, path)))
		return err_nomem(e);
	r->machine = b->trace->meta.machine;
	*c = (struct sqtt_container){.dir = r->path,
		.agent = NO_VALUE,
		.dispatch = NO_VALUE,
		.first = r->path,
		.rgp = r};
	if (!import_load(b->options, &r->file, path, e) || !read_header(r, &chunks, e) ||
		!walk(b, chunks, e) || !check_streams(r, e))
		return false;
	c->streams = r->streams.v;
	c->n_streams = (uint32_t)r->streams.n;
	c->objects = r->objects.v;
	c->n_objects = (uint32_t)r->objects.n;
	c->shader_hz = r->shader_hz;
	c->realtime_hz = r->realtime_hz;
	return true;
}

void rgp_close(struct rgp_file *r)
{
	file_unload(&r->file);
	VEC_FREE(&r->streams);
	VEC_FREE(&r->objects);
	VEC_FREE(&r->loads);
	VEC_FREE(&r->psos);
}

static bool note_passed(struct sqtt_build *b, const struct rgp_file *r)
{
	struct strbuf names = {0};
	bool ok;

	for (unsigned i = 0; i <= OTHER_KIND; i++)
		if (r->passed >> i & 1)
			sb_printf(&names, "%s%s", names.n ? ", " : "",
				i < N_KINDS ? kinds[i].name : "others");
	ok = !names.failed &&
	     trace_note(b->trace, NOTE_INFO, "chunks-not-shown", r->path, INCORE_NO_OFFSET,
		     r->n_passed, "%u chunks are not shown: %s", r->n_passed, names.p);
	sb_free(&names);
	return ok;
}

void rgp_meta(struct sqtt_build *b)
{
	b->trace->meta.machine = b->container.rgp->machine;
	if (b->container.rgp->is_synthetic)
		b->trace->meta.evidence = EVIDENCE_SYNTHETIC;
}

/* Older drivers always state that they traced no instructions: a note is added only if the trace
 * has none. */
bool rgp_notes(struct sqtt_build *b)
{
	const struct rgp_file *r = b->container.rgp;

	if (r->n_passed && !note_passed(b, r))
		return false;
	return !r->is_untimed || b->trace->n_tracks ||
	       trace_note(b->trace, NOTE_INFO, "no-instruction-timing", r->path, INCORE_NO_OFFSET,
		       1, "instructions were not traced: the file has lifetimes of waves alone");
}

/* --- the format --- */

static int rgp_sniff(const struct probe *p)
{
	return !p->is_dir && p->head_size >= 8 && u32(p->head) == MAGIC ? 95 : 0;
}

static void rgp_look(
	const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	int64_t size = file_size_in(capture_fence(cache), path);

	(void)a;
	c->is_uncounted = true;
	c->n_bytes = size > 0 ? (uint64_t)size : 0;
}

static bool rgp_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	return sqtt_read_found(rgp_find, NULL, path, o, t, e);
}

extern const struct import_ops import_rgp;
const struct import_ops import_rgp = {
	.name = "rgp",
	.summary = "capture of the Radeon GPU Profiler (.rgp), as Mesa's drivers write it",
	.looks_for = "captures of the Radeon GPU Profiler (*.rgp)",
	.sniff = rgp_sniff,
	.look = rgp_look,
	.read = rgp_read,
	.lost = import_lost_noted,
};
