/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rgp_places.c: finds the load addresses of code objects. A load names a pipeline by its hash, and
 * the metadata note of a code object has the same hash; the correlation of pipelines may map
 * between them.
 */
#include "base/search.h"
#include "import/sqtt/rgp.h"
#include "import/sqtt/sqtt.h"

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

static bool collect(struct placing *p)
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

static bool note(struct placing *p)
{
	struct trace *t = p->b->trace;
	const char *path = p->r->path;

	if (p->is_guessed &&
		!trace_note(t, NOTE_GUESSED, "load-by-elimination", path, INCORE_NO_OFFSET, 1,
			"the load and the code object do not share a hash; each is the only one, so they are taken for the same"))
		return false;
	if (p->n_unknown &&
		!trace_note(t, NOTE_UNMAPPED, "unknown-load", path, INCORE_NO_OFFSET, p->n_unknown,
			"%llu of %zu loads are of pipelines that no code object in the file states: their waves get no addresses",
			(unsigned long long)p->n_unknown, p->r->loads.n))
		return false;
	if (p->n_overlaps &&
		!trace_note(t, NOTE_CONTRADICTORY, "load-overlap", path, INCORE_NO_OFFSET,
			p->n_overlaps,
			"%llu loads lie over another: the latest counts for the whole trace",
			(unsigned long long)p->n_overlaps))
		return false;
	return !p->n_unplaced ||
	       trace_note(t, NOTE_MISSING, "no-load-address", path, INCORE_NO_OFFSET, p->n_unplaced,
		       "nothing says where %llu of %zu code objects were loaded: their addresses are unknown",
		       (unsigned long long)p->n_unplaced, p->b->objects.v.n);
}

bool rgp_place(struct sqtt_build *b, struct incore_error *e)
{
	struct placing p = {.b = b, .r = b->container.rgp};

	return (collect(&p) && order(&p) && count_unplaced(&p) && name_stages(&p) && note(&p)) ||
	       err_nomem(e);
}
