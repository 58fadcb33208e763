/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rgp.c: reads the chunks of a .rgp file: streams, code and other data. All offsets and counts of
 * the file are checked against their chunk.
 *
 * Parts: where code objects lie; the container.
 */
#include "import/sqtt/rgp.h"
#include "base/search.h"
#include "import/capture_cache.h"
#include "import/sqtt/internal.h"
#include "import/sqtt/sqtt.h"

/* --- where code objects lie ------------------------------------------------------------------- */

/*
 * Finds the load addresses of code objects. A load names a pipeline by its hash, and the metadata
 * note of a code object has the same hash; the correlation of pipelines may map between them.
 */

#define NO_OBJECT UINT32_MAX
#define PAGE 0x1000u

void rgp_move(struct sqtt_object *o)
{
	if (!elf_code_at(&o->elf, 0))
		return;
	EACH (const struct elf_section, s, o->elf.sections, o->elf.n_sections)
		if (s->size > UINT64_MAX - PAGE || s->address > UINT64_MAX - PAGE - s->size)
			return; /* not a driver's: it stays, its first word gets no address */
	o->moved = PAGE;
	EACH (struct elf_section, s, o->elf.sections, o->elf.n_sections)
		s->address += PAGE;
	EACH (struct elf_function, f, o->elf.functions, o->elf.n_functions)
		f->address += PAGE;
}

struct by_hash {
	uint64_t hash[2];
	uint32_t object; /* into sqtt_objects.v */
};
ORDER(compare_hashes, struct by_hash, UP(hash[0]) UP(hash[1]) UP(object))
ORDER(compare_psos, struct rgp_pso, UP(api) UP(hash[0]) UP(hash[1]))

struct dated {
	struct object_range range;
	uint64_t time;
};
ORDER(compare_dated, struct dated, UP(range.base) UP(time))

struct placing {
	struct sqtt_build *b;
	struct rgp_file *r;
	struct by_hash *hashes;
	size_t n_hashes;
	struct dated *found;
	size_t n_found;
	uint64_t n_unknown, n_overlaps, n_unplaced;
	bool is_guessed;
};

static uint32_t object_of_hash(const struct placing *p, const uint64_t hash[2])
{
	size_t lo = 0, hi = p->n_hashes;

	BISECT(lo, hi, i,
		p->hashes[i].hash[0] < hash[0] ||
			(p->hashes[i].hash[0] == hash[0] && p->hashes[i].hash[1] < hash[1]));
	return lo < p->n_hashes && memcmp(p->hashes[lo].hash, hash, 16) == 0 ? p->hashes[lo].object
									     : NO_OBJECT;
}

static uint32_t object_of_load(struct placing *p, const struct rgp_load *l)
{
	uint32_t object = object_of_hash(p, l->hash);
	size_t lo = 0, hi = p->r->psos.n;

	BISECT(lo, hi, i, p->r->psos.v[i].api < l->hash[0]);
	if (object == NO_OBJECT && lo < p->r->psos.n && p->r->psos.v[lo].api == l->hash[0])
		object = object_of_hash(p, p->r->psos.v[lo].hash);
	if (object == NO_OBJECT && p->r->loads.n == 1 && p->b->objects.v.n == 1 &&
		p->r->objects.n == 1) {
		p->is_guessed = true;
		object = 0;
	}
	return object;
}

/* The address range of an object's code if its file was loaded at `load`. Only code: the next
 * pipeline may begin right after it. False: there is no code, or the range is impossible. */
static bool range_of(const struct sqtt_object *o, uint64_t load, struct object_range *out)
{
	uint64_t first = UINT64_MAX, end = 0;

	EACH (const struct elf_section, s, o->elf.sections, o->elf.n_sections) {
		if (elf_code_at(&o->elf, s->address) != s || s->size > UINT64_MAX - s->address)
			continue;
		first = s->address < first ? s->address : first;
		end = s->address + s->size > end ? s->address + s->size : end;
	}
	if (first >= end || load > UINT64_MAX - end)
		return false;
	*out = (struct object_range){load + (first - o->moved), end - first, o->id, first};
	return true;
}

static bool rgp_collect(struct placing *p)
{
	const struct sqtt_objects *x = &p->b->objects;

	p->hashes = arena_zalloc(&p->b->scratch, x->v.n + 1, sizeof(*p->hashes));
	p->found = arena_zalloc(&p->b->scratch, p->r->loads.n + 1, sizeof(*p->found));
	if (!p->hashes || !p->found)
		return false;
	for (uint32_t i = 0; i < x->v.n; i++) {
		const uint64_t *h = x->v.v[i].facts.pipeline_hash;

		if (h[0] || h[1])
			p->hashes[p->n_hashes++] = (struct by_hash){{h[0], h[1]}, i};
	}
	SORT(p->hashes, p->n_hashes, compare_hashes);
	SORT(p->r->psos.v, p->r->psos.n, compare_psos);
	EACH (const struct rgp_load, l, p->r->loads.v, p->r->loads.n) {
		uint32_t object = object_of_load(p, l);
		struct dated *d = &p->found[p->n_found];

		d->time = l->time;
		if (object != NO_OBJECT && range_of(&x->v.v[object], l->base, &d->range))
			p->n_found++;
		else
			p->n_unknown++;
	}
	return true;
}

/* Of overlapping loads the latest is kept: replaced code did not run later. */
static bool order(struct placing *p)
{
	struct object_range *v = arena_zalloc(&p->b->scratch, p->n_found + 1, sizeof(*v));
	uint64_t time = 0;
	size_t n = 0;

	if (!v)
		return false;
	SORT(p->found, p->n_found, compare_dated);
	EACH (const struct dated, d, p->found, p->n_found) {
		bool is_over = n && d->range.base < v[n - 1].base + v[n - 1].size;

		p->n_overlaps += is_over && d->range.object != v[n - 1].object;
		if (is_over && d->time < time)
			continue;
		n -= is_over;
		v[n++] = d->range;
		time = d->time;
	}
	p->b->objects.places = (struct sqtt_places){n, v};
	return true;
}

/* All pipelines of a driver name their code alike: if there are several, the hash is added to the
 * names. */
static bool name_stages(struct placing *p)
{
	struct arena *a = &p->b->trace->arena;

	for (size_t i = 0; p->b->objects.v.n > 1 && i < p->b->objects.v.n; i++) {
		struct sqtt_object *o = &p->b->objects.v.v[i];
		unsigned long long hash = o->facts.pipeline_hash[0];

		if (!hash)
			continue;
		for (uint32_t k = 0; k < o->elf.n_functions; k++)
			if (!(o->elf.functions[k].name = arena_printf(
				      a, "%s %016llx", o->elf.functions[k].name, hash)))
				return false;
		for (uint32_t k = 0; k < o->facts.n_kernels; k++)
			if (!(o->facts.kernels[k].name = arena_printf(
				      a, "%s %016llx", o->facts.kernels[k].name, hash)))
				return false;
	}
	return true;
}

/* Counts the objects without a load. */
static bool count_unplaced(struct placing *p)
{
	uint8_t *seen = arena_zalloc(&p->b->scratch, (size_t)p->r->objects.n + 2, 1);

	if (!seen)
		return false;
	for (size_t i = 0; i < p->n_found; i++)
		seen[p->found[i].range.object] = 1;
	EACH (const struct sqtt_object, o, p->b->objects.v.v, p->b->objects.v.n)
		p->n_unplaced += !seen[o->id];
	return true;
}

static bool rgp_note(struct placing *p)
{
	struct trace *t = p->b->trace;
	const char *path = p->r->path;

	if (p->is_guessed &&
		!trace_note(t, "load-by-elimination", path, INCORE_NO_OFFSET, 1,
			"the load and the code object do not share a hash; each is the only one, so they are taken for the same"))
		return false;
	if (p->n_unknown &&
		!trace_note(t, "unknown-load", path, INCORE_NO_OFFSET, p->n_unknown,
			"%llu of %zu loads are of pipelines that no code object in the file states: their waves get no addresses",
			(unsigned long long)p->n_unknown, p->r->loads.n))
		return false;
	if (p->n_overlaps &&
		!trace_note(t, "load-overlap", path, INCORE_NO_OFFSET, p->n_overlaps,
			"%llu loads lie over another: the latest counts for the whole trace",
			(unsigned long long)p->n_overlaps))
		return false;
	return !p->n_unplaced ||
	       trace_note(t, "no-load-address", path, INCORE_NO_OFFSET, p->n_unplaced,
		       "nothing says where %llu of %zu code objects were loaded: their addresses are unknown",
		       (unsigned long long)p->n_unplaced, p->b->objects.v.n);
}

bool rgp_place(struct sqtt_build *b, struct incore_error *e)
{
	struct placing p = {.b = b, .r = b->container.rgp};

	return (rgp_collect(&p) && order(&p) && count_unplaced(&p) && name_stages(&p) &&
		       rgp_note(&p)) ||
	       err_nomem(e);
}

/* --- the container ---------------------------------------------------------------------------- */

#define MAGIC 0x50303042u
#define HEADER_SIZE 56u
#define CHUNK_HEADER 16u
#define TABLE_HEADER 32u /* of chunks with records */
#define SYNTHETIC_NAME "incore synthetic"
/* Mesa writes this if the shader clock is unknown, because the profiler requires one. */
#define STAND_IN_HZ 1300000000u

struct rgp_chunk {
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

static int64_t count_cus(const struct rgp_chunk *c)
{
	uint64_t n = 0;

	if (c->size >= ASIC_CU_MASK_END)
		for (unsigned i = ASIC_CU_MASK; i < ASIC_CU_MASK_END; i++)
			n += (uint64_t)__builtin_popcount(c->p[i]);
	return n ? (int64_t)n
		 : plausible((uint64_t)u32(c->p + ASIC_ENGINES) * u32(c->p + ASIC_CUS_PER_ENGINE),
			   1 << 16);
}

static bool take_asic(struct sqtt_build *b, const struct rgp_chunk *c, struct incore_error *e)
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

static bool take_api(struct sqtt_build *b, const struct rgp_chunk *c, struct incore_error *e)
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

static bool take_desc(struct sqtt_build *b, const struct rgp_chunk *c, struct incore_error *e)
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

static bool check_generation(struct rgp_file *r, const struct rgp_chunk *c, const uint8_t *data,
	uint32_t size, struct incore_error *e)
{
	struct sqtt_stream s;

	/* A stream that is not a thread trace is left out in decoding: the others may be usable. */
	return !sqtt_recognise(data, size, &s, NULL) || s.gfx_major == r->desc_major[c->index] ||
	       err_file(e, "bad-value", r->path, (uint64_t)(data - r->file.data),
		       "stream %u begins as one of gfx%u, its description says gfx%u", c->index,
		       s.gfx_major, r->desc_major[c->index]);
}

static bool take_data(struct sqtt_build *b, const struct rgp_chunk *c, struct incore_error *e)
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

static bool take_objects(struct sqtt_build *b, const struct rgp_chunk *c, struct incore_error *e)
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
static bool count_records(const struct rgp_file *r, const struct rgp_chunk *c, uint32_t least,
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

static bool take_loads(struct sqtt_build *b, const struct rgp_chunk *c, struct incore_error *e)
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

static bool take_psos(struct sqtt_build *b, const struct rgp_chunk *c, struct incore_error *e)
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
	bool (*take)(struct sqtt_build *b, const struct rgp_chunk *c, struct incore_error *e);
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

static bool take_chunk(struct sqtt_build *b, const struct rgp_chunk *c, struct incore_error *e)
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

static bool rgp_walk(struct sqtt_build *b, uint64_t at, struct incore_error *e)
{
	struct rgp_file *r = b->container.rgp;

	while (at < r->file.size) {
		uint64_t left = r->file.size - at;
		struct rgp_chunk c = {.at = at, .p = r->file.data + at};

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

static bool rgp_read_header(const struct rgp_file *r, uint64_t *chunks, struct incore_error *e)
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
static bool rgp_check_streams(const struct rgp_file *r, struct incore_error *e)
{
	for (unsigned i = 0; i < RGP_STREAMS; i++)
		if (r->desc_at[i] && !r->has_data[i])
			return err_file(e, "truncated", r->path, r->desc_at[i],
				"stream %u is described and has no data", i);
	return r->streams.n ||
	       err_file(e, "no-stream", r->path, INCORE_NO_OFFSET,
		       "no thread trace is in this file: was it of a frame with work?");
}

/* Rgp.c: finds the container of a file; an sqtt_find_fn. */
static bool rgp_find(struct sqtt_build *b, const char *path, struct incore_error *e)
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
	if (!import_load(b->options, &r->file, path, e) || !rgp_read_header(r, &chunks, e) ||
		!rgp_walk(b, chunks, e) || !rgp_check_streams(r, e))
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
	     trace_note(b->trace, "chunks-not-shown", r->path, INCORE_NO_OFFSET, r->n_passed,
		     "%u chunks are not shown: %s", r->n_passed, names.p);
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
	       trace_note(b->trace, "no-instruction-timing", r->path, INCORE_NO_OFFSET, 1,
		       "instructions were not traced: the file has lifetimes of waves alone");
}

/* --- the format --- */

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

static const struct signature rgp_signs[] = {
	{.begins = "B00P", .min_bytes = 8, .score = 95},
	{0},
};

extern const struct import_ops import_rgp;
const struct import_ops import_rgp = {
	.name = "rgp",
	.summary = "capture of the Radeon GPU Profiler (.rgp), as Mesa's drivers write it",
	.looks_for = "captures of the Radeon GPU Profiler (*.rgp)",
	.signs = rgp_signs,
	.look = rgp_look,
	.read = rgp_read,
	.lost = import_lost_noted,
};
