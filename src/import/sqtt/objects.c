/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects.c: loads the code that ran. An object that is missing, damaged or of another
 * architecture becomes a note; the trace is decoded without it.
 */
#include "base/search.h"
#include "import/capture_cache.h"
#include "import/marker_names.h"
#include "import/sqtt/rgp.h"
#include "import/sqtt/sqtt.h"

/* The words of all objects together must fit a slot number. */
#define MAX_SLOTS (SQTT_NO_SLOT - 1)

static bool sqtt_objects_note_error(
	struct sqtt_build *b, const char *path, struct incore_error *why, struct incore_error *e)
{
	if (import_note_unread(b->trace, "damaged-code-object", path,
		    "is left out, its code stays unknown", why))
		return true;
	err_move(e, why);
	return false;
}

static void free_object(struct sqtt_object *o)
{
	file_unload(&o->file);
}

bool sqtt_object_read(struct sqtt_build *b, const struct sqtt_object_file *f, struct sqtt_object *o,
	struct incore_error *why)
{
	struct arena *a = &b->trace->arena;
	struct str bytes, note;

	*o = (struct sqtt_object){.id = f->id, .path = f->path};
	if (f->bytes.p) { /* borrowed */
		o->file.data = (const uint8_t *)f->bytes.p;
		o->file.size = f->bytes.n;
	} else if (!import_load(b->options, &o->file, f->path, why)) {
		return false;
	}
	bytes = (struct str){(const char *)o->file.data, o->file.size};
	if (!elf_open(&o->elf, bytes, f->path, a, why))
		return false;
	o->gpu = amd_arch_gpu_of_elf_flags(o->elf.flags);
	note = elf_note(&o->elf, "AMDGPU", ELF_NOTE_AMDGPU_METADATA);
	if (note.p && !code_facts_read(&o->facts, note, f->path, a, why)) {
		if (!strcmp(why->code, "no-memory"))
			return false;
		incore_error_clear(why);
		if (!trace_note(b->trace, "damaged-metadata", f->path, INCORE_NO_OFFSET, 1,
			    "the kernel metadata note is damaged: registers and LDS stay unknown"))
			return err_nomem(why);
	}
	if (!o->gpu)
		o->gpu = o->facts.target;
	o->arch = o->gpu ? amd_arch_of_gpu(o->gpu) : AMD_ARCH_UNKNOWN;
	return true;
}

/* A minimal image has no function names: its code is the kernel named in meta.json. */
static bool name_bare_code(struct sqtt_build *b, struct sqtt_object *o)
{
	struct elf_function *f;

	if (o->elf.n_functions || !b->meta.kernel)
		return true;
	EACH (const struct elf_section, s, o->elf.sections, o->elf.n_sections) {
		uint64_t size = s->size & ~(uint64_t)3;

		if (elf_code_at(&o->elf, s->address) != s)
			continue;
		/* padding after the end: s_code_end, s_nop 0 or zeros */
		while (size >= 8 && (memcmp(s->data + size - 4, "\0\0\x9f\xbf", 4) == 0 ||
					    memcmp(s->data + size - 4, "\0\0\x80\xbf", 4) == 0 ||
					    memcmp(s->data + size - 4, "\0\0\0\0", 4) == 0))
			size -= 4;
		f = arena_zalloc(&b->trace->arena, 1, sizeof(*f));
		if (!f)
			return false;
		*f = (struct elf_function){b->meta.kernel, "", s->address, size};
		o->elf.functions = f;
		o->elf.n_functions = 1;
		return true;
	}
	return true;
}

static bool add_segments(struct sqtt_build *b, uint32_t object)
{
	struct sqtt_objects *x = &b->objects;
	const struct sqtt_object *o = &x->v.v[object];

	if (o->listing)
		return sqtt_listing_segments(b, object);
	EACH (const struct elf_section, s, o->elf.sections, o->elf.n_sections) {
		struct sqtt_segment seg = {
			o->id, s->address, SQTT_NO_ADDR, s->data, (size_t)s->size, NULL};
		struct sqtt_stretch place = {object, x->n_slots, NULL};

		if (elf_code_at(&o->elf, s->address) != s || s->address % 4 ||
			s->size / 4 + 1 > MAX_SLOTS - x->n_slots)
			continue;
		if (o->id == 0 && b->meta.load_base != SQTT_NO_ADDR)
			seg.load_addr = b->meta.load_base + s->address;
		if (!VEC_PUSH(&x->segments, seg) || !VEC_PUSH(&x->stretches, place))
			return false;
		x->n_slots += (uint32_t)(s->size / 4 + 1);
	}
	return true;
}

static enum amd_arch arch_of_generation(uint32_t generation)
{
	switch (generation / 2) {
	case 9:
		return AMD_ARCH_GFX9;
	case 10:
		return AMD_ARCH_GFX10;
	case 11:
		return AMD_ARCH_GFX11;
	case 12:
		return generation % 2 ? AMD_ARCH_GFX1250 : AMD_ARCH_GFX12;
	default:
		return AMD_ARCH_UNKNOWN;
	}
}

/* The generation of most streams, in a tie the first; unknown if none is readable. Engines use it
 * to leave out streams of another one. */
static void find_generation(struct sqtt_build *b)
{
	uint32_t count[SQTT_GENERATIONS] = {0}, best = 0;
	struct sqtt_loader *l = b->loader;

	for (uint32_t i = 0; i < l->n_engines; i++) {
		struct file_data *f = &l->engines[i].file;
		struct sqtt_stream s;
		unsigned g;

		if (!sqtt_stream_load(b, i, NULL) || !sqtt_recognise(f->data, f->size, &s, NULL))
			continue;
		g = sqtt_generation(&s);
		if (++count[g] > count[best])
			best = g;
	}
	for (uint32_t i = 0; i < l->n_engines; i++)
		l->engines[i].generation = best;
	b->arch = arch_of_generation(best);
}

bool sqtt_objects_add(struct sqtt_build *b, struct sqtt_object *o, struct incore_error *e)
{
	unsigned mine = amd_arch_major(o->arch), major = amd_arch_major(b->arch);

	if (major && mine && mine != major) {
		if (!trace_note(b->trace, "wrong-architecture", o->path, INCORE_NO_OFFSET, 1,
			    "%s is code for %s, the trace is of gfx%u: left out, its code stays unknown",
			    path_base(o->path), o->gpu, major))
			return err_nomem(e);
		free_object(o);
		return true;
	}
	if (b->container.rgp)
		rgp_move(o);
	if ((!o->listing && !name_bare_code(b, o)) || !VEC_PUSH(&b->objects.v, *o)) {
		free_object(o);
		return err_nomem(e);
	}
	return add_segments(b, (uint32_t)b->objects.v.n - 1) || err_nomem(e);
}

void sqtt_objects_choose(struct sqtt_build *b)
{
	struct sqtt_objects *x = &b->objects;

	for (size_t i = 0; i < x->v.n && !x->gpu; i++)
		if (x->v.v[i].gpu) {
			x->gpu = x->v.v[i].gpu;
			x->gpu_source = "code object";
		}
	if (!x->gpu && b->meta.gfx) {
		x->gpu = b->meta.gfx;
		x->gpu_source = "meta.json";
	}
	x->arch = x->gpu ? amd_arch_of_gpu(x->gpu) : AMD_ARCH_UNKNOWN;
	x->code = (struct sqtt_code){x->arch, x->segments.n, x->segments.v};
}

/* Takes the marker names stored by the compiler. */
static bool take_marker_names(struct sqtt_build *b)
{
	struct marker_names m = {.trace = b->trace};
	const char *origin = NULL;

	EACH (const struct sqtt_object, o, b->objects.v.v, b->objects.v.n) {
		const struct elf_section *s = elf_section_named(&o->elf, ".sqtt_funcmap");

		if (!s || !s->data)
			continue;
		origin = origin ? origin : arena_strdup(&b->trace->arena, o->path);
		if (!origin || !marker_names_section(&m, o->id,
				       (struct str){(const char *)s->data, (size_t)s->size})) {
			marker_names_drop(&m);
			return false;
		}
	}
	return marker_names_put(&m, origin);
}

bool sqtt_objects_load(struct sqtt_build *b, struct incore_error *e)
{
	const struct sqtt_container *c = &b->container;

	find_generation(b);
	for (uint32_t i = 0; i < c->n_objects; i++) {
		struct incore_error why = {0};
		struct sqtt_object o;

		if (!sqtt_object_read(b, &c->objects[i], &o, &why)) {
			free_object(&o);
			if (!sqtt_objects_note_error(b, c->objects[i].path, &why, e))
				return false;
			continue;
		}
		if (!sqtt_objects_add(b, &o, e))
			return false;
	}
	if (!sqtt_more_code(b, e))
		return false;
	if (!c->n_objects && !b->objects.v.n && !b->unplaced.n &&
		!trace_note(b->trace, "no-code-object", NULL, INCORE_NO_OFFSET, 1,
			"no code object %s: no instruction gets an address",
			c->rgp ? "in the file"
			       : "(*_code_object_id_*.out, code.elf) beside the streams"))
		return err_nomem(e);
	if (c->meta && b->objects.v.n && !b->objects.v.v[0].id &&
		b->meta.load_base == SQTT_NO_ADDR &&
		!trace_note(b->trace, "no-load-address", c->meta, INCORE_NO_OFFSET, 1,
			"meta.json gives no load_base: no instruction gets an address"))
		return err_nomem(e);
	if (c->rgp && !rgp_place(b, e))
		return false;
	sqtt_objects_choose(b);
	return take_marker_names(b) || err_nomem(e);
}

void sqtt_objects_free(struct sqtt_objects *o)
{
	for (size_t i = 0; i < o->v.n; i++)
		free_object(&o->v.v[i]);
	VEC_FREE(&o->v);
	VEC_FREE(&o->segments);
	VEC_FREE(&o->stretches);
}

static bool segment_has(const struct sqtt_segment *s, uint32_t id, uint64_t pc, uint64_t *at)
{
	uint64_t base = id ? s->vaddr : s->load_addr;

	if ((id && s->object != id) || base == SQTT_NO_ADDR)
		return false;
	*at = pc - base;
	return pc >= base && *at < s->size;
}

uint32_t sqtt_slot_of(const struct sqtt_objects *o, uint32_t id, uint64_t pc, size_t *hint)
{
	uint64_t at;

	if (!pc)
		return SQTT_NO_SLOT;
	for (size_t k = 0; k < o->segments.n; k++) {
		size_t i = *hint + k < o->segments.n ? *hint + k : *hint + k - o->segments.n;

		if (segment_has(&o->segments.v[i], id, pc, &at)) {
			*hint = i;
			return o->stretches.v[i].first_slot + (uint32_t)(at / 4);
		}
	}
	return SQTT_NO_SLOT;
}

struct sqtt_place sqtt_place_of(const struct sqtt_objects *o, uint32_t slot)
{
	size_t after = 1, n = o->stretches.n, lo;
	const struct sqtt_segment *s;
	uint64_t at;

	BISECT(after, n, i, o->stretches.v[i].first_slot <= slot);
	lo = after - 1;
	s = &o->segments.v[lo];
	at = (uint64_t)(slot - o->stretches.v[lo].first_slot) * 4;
	return (struct sqtt_place){&o->v.v[o->stretches.v[lo].object], s->vaddr + at, s->bytes + at,
		(size_t)(s->size - at), s->insts ? &s->insts[at / 4] : NULL,
		o->stretches.v[lo].rows ? o->stretches.v[lo].rows[at / 4] : 0};
}
