/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing.c: code that a capture does not have as code objects: code.json beside the streams, and
 * what --code names (an object, a listing, a folder of them). Instructions are found by code object
 * and address; what an instruction is follows from its text.
 *
 * Parts: listings; a listing as an object; where code is looked for; objects without a number.
 */
#include <stdlib.h>

#include "base/search.h"
#include "import/capture_cache.h"
#include "import/code_json.h"
#include "import/sqtt/sqtt.h"
#include "isa/amd.h"
#include "isa/amd_text.h"

/* Rows further apart are no stretch of code: what lies between takes memory. */
#define MAX_GAP_BYTES 256u
#define MAX_FILES 4096u /* of a folder */

/* --- listings --------------------------------------------------------------------------------- */

struct listing_place {
	uint32_t object;
	uint64_t address;
	code_idx row;
};

ORDER(compare_listing_places, struct listing_place, UP(object) UP(address) UP(row))

/* Sorts the instruction rows by place; of several at one place the first counts. */
static bool listing_sort(struct sqtt_listing *l, struct arena *a)
{
	struct listing_place *v = mem_zalloc((size_t)l->text->n_code + 1, sizeof(*v));
	uint32_t n = 0;

	l->order = arena_zalloc(a, (size_t)l->text->n_code + 1, sizeof(*l->order));
	for (code_idx i = 0; v && i < l->text->n_code; i++) {
		const struct code_row *r = &l->text->code[i];

		if (!r->is_label && r->address % 4 == 0 && r->text_len)
			v[n++] = (struct listing_place){r->code_object, r->address, i};
	}
	if (v && l->order) {
		SORT(v, n, compare_listing_places);
		for (uint32_t i = 0; i < n; i++)
			if (!i || v[i].object != v[i - 1].object ||
				v[i].address != v[i - 1].address)
				l->order[l->n++] = v[i].row;
	}
	mem_free(v);
	return v && l->order;
}

const struct code_row *sqtt_listing_row(
	const struct sqtt_listing *l, uint32_t object, uint64_t address)
{
	uint32_t lo = 0, hi = l->n;
	const struct code_row *r;

	BISECT(lo, hi, i,
		l->text->code[l->order[i]].code_object < object ||
			(l->text->code[l->order[i]].code_object == object &&
				l->text->code[l->order[i]].address < address));
	r = lo < l->n ? &l->text->code[l->order[lo]] : NULL;
	return r && r->code_object == object && r->address == address ? r : NULL;
}

static bool hex_number(struct str s, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < s.n; i++) {
		int digit = s.p[i] >= '0' && s.p[i] <= '9'   ? s.p[i] - '0'
			    : s.p[i] >= 'a' && s.p[i] <= 'f' ? s.p[i] - 'a' + 10
			    : s.p[i] >= 'A' && s.p[i] <= 'F' ? s.p[i] - 'A' + 10
							     : -1;

		if (digit < 0 || *out >> 60)
			return false;
		*out = *out << 4 | (uint64_t)digit;
	}
	return s.n > 0;
}

/* "000000001900 <kernel>:" */
static bool listing_label(struct str line, uint64_t *address, struct str *name)
{
	ptrdiff_t open = str_find(line, " <");

	if (open <= 0 || !str_ends(line, ">:") ||
		!hex_number(str_sub(line, 0, (size_t)open), address))
		return false;
	*name = str_sub(line, (size_t)open + 2, line.n - 2);
	return true;
}

/* "s_endpgm // 000000001904: BF810000": the text, its address; as llvm-objdump -d writes it. */
static bool listing_inst(struct str line, uint64_t *address, struct str *text)
{
	ptrdiff_t mark = str_find(line, "//"), colon;
	struct str place;

	if (mark <= 0)
		return false;
	place = str_trim(str_sub(line, (size_t)mark + 2, line.n));
	colon = str_find(place, ":");
	if (colon <= 0 || !hex_number(str_sub(place, 0, (size_t)colon), address))
		return false;
	*text = str_trim(str_sub(line, 0, (size_t)mark));
	return text->n > 0;
}

/* A disassembly as text. False only on lack of memory; no row: it was none. */
static bool listing_parse(struct trace *t, struct str in)
{
	VEC(struct code_row) rows = {0};
	struct str line, text;
	uint64_t address;
	bool ok = true;

	while (ok && str_cut(&in, "\n", &line)) {
		bool is_label = listing_label(str_trim(line), &address, &text);
		struct code_row row = {.source = "", .is_label = is_label};

		if (!is_label && !listing_inst(line, &address, &text))
			continue;
		row.address = address;
		row.text = is_label ? arena_printf(&t->arena, "; %.*s", STR_ARG(text))
				    : arena_strndup(&t->arena, text.p, text.n);
		row.text_len = row.text ? (uint32_t)strlen(row.text) : 0;
		ok = row.text && rows.n < UINT32_MAX - 1 && VEC_PUSH(&rows, row);
	}
	if (ok && rows.n) {
		t->code = arena_memdup(&t->arena, rows.v, rows.n * sizeof(*rows.v));
		t->n_code = (uint32_t)rows.n;
		ok = t->code != NULL;
	}
	VEC_FREE(&rows);
	return ok;
}

/* Reads code.json or a disassembly; *out stays zero if there is no instruction in it. */
static bool listing_read(struct sqtt_build *b, struct str in, const char *path,
	struct sqtt_listing *out, struct incore_error *e)
{
	struct str start = str_trim(str_sub(in, 0, in.n < 64 ? in.n : 64));
	struct code_json facts;
	struct sqtt_listing l = {.path = path, .text = trace_new()};
	bool ok;

	if (!l.text)
		return err_nomem(e);
	l.is_named = start.n && start.p[0] == '{';
	ok = l.is_named ? code_json_read(l.text, in, path, &facts, e)
			: listing_parse(l.text, in) || err_nomem(e);
	if (ok && !listing_sort(&l, &b->scratch))
		ok = err_nomem(e);
	if (ok && !l.n)
		ok = err_file(e, "no-code", path, INCORE_NO_OFFSET,
			"no instruction here: neither a code object, nor code.json, nor a disassembly with addresses (llvm-objdump -d)");
	if (!ok) {
		trace_free(l.text);
		return false;
	}
	*out = l;
	return true;
}

void sqtt_listings_free(struct sqtt_build *b)
{
	for (size_t i = 0; i < b->listings.n; i++) {
		trace_free(b->listings.v[i]->text);
		mem_free(b->listings.v[i]);
	}
	for (size_t i = 0; i < b->others.n; i++)
		file_unload(&b->others.v[i]);
	VEC_FREE(&b->listings);
	VEC_FREE(&b->others);
	VEC_FREE(&b->unplaced);
}

/* --- a listing as an object ------------------------------------------------------------------- */

/* The rows of a code object in a listing: [*first, *end) of its order. */
static void listing_range(
	const struct sqtt_listing *l, uint32_t object, uint32_t *first, uint32_t *end)
{
	uint32_t hi = l->n;

	*first = 0;
	BISECT(*first, hi, i, l->text->code[l->order[i]].code_object < object);
	*end = *first;
	hi = l->n;
	BISECT(*end, hi, i, l->text->code[l->order[i]].code_object <= object);
}

static uint64_t listing_address(const struct sqtt_listing *l, uint32_t i)
{
	return l->text->code[l->order[i]].address;
}

ORDER(compare_functions, struct elf_function, UP(address))

/* Labels become functions, up to the next label or the last row. */
static bool listing_functions(struct sqtt_object *o, uint64_t end, struct arena *a)
{
	const struct trace *t = o->listing->text;
	struct elf_function *v = arena_zalloc(a, (size_t)t->n_code + 1, sizeof(*v));
	uint32_t n = 0, kept = 0;

	if (!v)
		return false;
	for (code_idx i = 0; i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];

		if (r->is_label && r->code_object == o->listing_id && r->text_len > 2)
			v[n++] = (struct elf_function){
				r->text + 2, r->source ? r->source : "", r->address, 0};
	}
	SORT(v, n, compare_functions);
	for (uint32_t i = 0; i < n; i++) {
		v[i].size = (i + 1 < n ? v[i + 1].address : end) - v[i].address;
		if (v[i].address < end && v[i].size)
			v[kept++] = v[i];
	}
	o->elf.functions = v;
	o->elf.n_functions = kept;
	return true;
}

struct listing_run { /* rows without large gaps */
	struct sqtt_build *b;
	const struct sqtt_object *o;
	uint32_t object, first, end;
	enum amd_arch arch;
};

/* Stand-ins for the words: only those of a barrier are ever looked at (sqtt.c). */
static void put_words(uint8_t *at, const struct listing_run *k, struct str text)
{
	static const uint8_t old[4] = {0, 0, 0x8a, 0xbf}, new[4] = {0, 0, 0xbd, 0xbf};

	if (str_is(amd_mnemonic(text), "s_barrier"))
		memcpy(at, k->arch == AMD_ARCH_GFX11 ? new : old, 4);
}

static bool add_run(const struct listing_run *k)
{
	struct sqtt_objects *x = &k->b->objects;
	const struct sqtt_listing *l = k->o->listing;
	struct arena *a = &k->b->scratch;
	uint64_t begin = listing_address(l, k->first);
	uint64_t words = (listing_address(l, k->end - 1) - begin) / 4 + 5;
	struct amd_code_inst *insts = arena_zalloc(a, (size_t)words, sizeof(*insts));
	uint32_t *rows = arena_zalloc(a, (size_t)words + 1, sizeof(*rows));
	uint8_t *bytes = arena_zalloc(a, (size_t)words, 4);
	struct sqtt_segment seg = {k->o->id, begin, SQTT_NO_ADDR, bytes, (size_t)words * 4, insts};
	struct sqtt_stretch place = {k->object, x->n_slots, rows};

	if (!insts || !rows || !bytes)
		return false;
	for (uint32_t i = k->first; i < k->end; i++) {
		const struct code_row *r = &l->text->code[l->order[i]];
		struct str text = {r->text, r->text_len};
		uint64_t at = (r->address - begin) / 4;
		uint64_t gap = i + 1 < k->end ? listing_address(l, i + 1) - r->address : 0;

		insts[at] = amd_code_of_text(k->arch, text, r->address, gap);
		rows[at] = l->order[i] + 1;
		put_words(bytes + at * 4, k, text);
	}
	seg.size = (size_t)((listing_address(l, k->end - 1) - begin) +
			    insts[(listing_address(l, k->end - 1) - begin) / 4].len_bytes);
	if (k->b->meta.load_base != SQTT_NO_ADDR)
		seg.load_addr = k->b->meta.load_base + begin;
	if (words > (uint64_t)SQTT_NO_SLOT - 1 - x->n_slots)
		return true; /* beyond what can be numbered: its code stays unknown */
	x->n_slots += (uint32_t)words;
	return VEC_PUSH(&x->segments, seg) && VEC_PUSH(&x->stretches, place);
}

bool sqtt_listing_segments(struct sqtt_build *b, uint32_t object)
{
	struct sqtt_object *o = &b->objects.v.v[object];
	const struct sqtt_listing *l = o->listing;
	struct listing_run k = {b, o, object, 0, 0, b->arch};
	uint32_t first, end;

	listing_range(l, o->listing_id, &first, &end);
	for (k.first = first; k.first < end; k.first = k.end) {
		for (k.end = k.first + 1; k.end < end; k.end++)
			if (listing_address(l, k.end) - listing_address(l, k.end - 1) >
				MAX_GAP_BYTES)
				break;
		if (!add_run(&k))
			return false;
	}
	return true;
}

/* Makes the object of one code object of a listing. */
static bool make_object(
	struct sqtt_build *b, const struct sqtt_listing *l, uint32_t id, struct sqtt_object *o)
{
	uint32_t first, end;

	*o = (struct sqtt_object){.id = id, .path = l->path, .listing = l, .listing_id = id};
	listing_range(l, id, &first, &end);
	return listing_functions(
		o, end > first ? listing_address(l, end - 1) + 4 : 0, &b->trace->arena);
}

/* --- where code is looked for ----------------------------------------------------------------- */

static bool has_code_of(const struct sqtt_build *b, uint32_t id)
{
	for (size_t i = 0; i < b->objects.v.n; i++)
		if (b->objects.v.v[i].id == id || !b->objects.v.v[i].id)
			return true;
	return false;
}

/* Every code object that nothing before has is taken from the listing. */
static bool take_listing(
	struct sqtt_build *b, struct str in, const char *path, struct incore_error *e)
{
	struct sqtt_listing *l = mem_zalloc(1, sizeof(*l));
	uint32_t last = 0;

	if (!l)
		return err_nomem(e);
	if (!listing_read(b, in, path, l, e)) {
		mem_free(l);
		return false;
	}
	if (!VEC_PUSH(&b->listings, l)) {
		trace_free(l->text);
		mem_free(l);
		return err_nomem(e);
	}
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t id = l->text->code[l->order[i]].code_object;
		struct sqtt_object o;

		if ((i && id == last) || has_code_of(b, id))
			continue;
		last = id;
		if (!make_object(b, l, id, &o))
			return err_nomem(e);
		if (l->is_named ? !sqtt_objects_add(b, &o, e)
				: !VEC_PUSH(&b->unplaced, o) && !err_nomem(e))
			return false;
	}
	return true;
}

/* A code object without a number in its name stands for the plain run's, or is placed later. */
static bool take_elf(struct sqtt_build *b, struct str in, const char *path, struct incore_error *e)
{
	struct sqtt_object_file f = {0, path, in};
	struct sqtt_object o;
	bool is_named = sqtt_object_name(path_base(path), &f.id);

	if (is_named && has_code_of(b, f.id))
		return true;
	if (!sqtt_object_read(b, &f, &o, e))
		return false;
	o.is_given = true;
	if (is_named || (!b->objects.v.n && b->meta.load_base != SQTT_NO_ADDR))
		return sqtt_objects_add(b, &o, e);
	return VEC_PUSH(&b->unplaced, o) || err_nomem(e);
}

static bool take_file(struct sqtt_build *b, const char *path, struct incore_error *e)
{
	const struct file_fence *fence = file_fence_of_named(import_fence(b->options));
	struct file_data f = {0};
	struct str in;

	if (!file_load_in(fence, &f, path, e))
		return false;
	if (!VEC_PUSH(&b->others, f)) {
		file_unload(&f);
		return err_nomem(e);
	}
	in = (struct str){(const char *)f.data, f.size};
	return in.n >= 4 && memcmp(in.p, "\177ELF", 4) == 0 ? take_elf(b, in, path, e)
							    : take_listing(b, in, path, e);
}

struct code_folder {
	struct arena *arena;
	const char *dir;
	VEC(const char *) paths;
};

static bool folder_add(void *ctx, const char *name, struct incore_error *e)
{
	struct code_folder *k = ctx;
	const char *path = arena_printf(k->arena, "%s/%s", k->dir, name);

	if (!path)
		return err_nomem(e);
	return k->paths.n >= MAX_FILES || VEC_PUSH(&k->paths, path) || err_nomem(e);
}

static int compare_folder_paths(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Files of a folder that hold no code are passed over, as long as one does. */
static bool take_folder(struct sqtt_build *b, const char *dir, struct incore_error *e)
{
	const struct file_fence *fence = file_fence_of_named(import_fence(b->options));
	struct code_folder k = {.arena = &b->scratch, .dir = dir};
	bool ok = dir_each_in(fence, dir, folder_add, &k, e), any = false;

	if (ok)
		SORT(k.paths.v, k.paths.n, compare_folder_paths);
	for (size_t i = 0; ok && i < k.paths.n; i++) {
		struct incore_error why = {0};

		if (file_is_dir_in(fence, k.paths.v[i]))
			continue;
		if (take_file(b, k.paths.v[i], &why)) {
			any = true;
		} else if (why.status != INCORE_BAD_INPUT) {
			err_move(e, &why);
			ok = false;
		}
		incore_error_clear(&why);
	}
	VEC_FREE(&k.paths);
	if (ok && !any)
		ok = err_file(e, "no-code", dir, INCORE_NO_OFFSET,
			"no code object, code.json or disassembly in this folder");
	return ok;
}

/* code.json beside the streams: damage is a note, since the streams can be read without it. */
static bool take_own(struct sqtt_build *b, struct incore_error *e)
{
	const char *path = b->container.code_json;
	struct incore_error why = {0};
	struct file_data f = {0};
	bool ok;

	if (!path)
		return true;
	ok = import_load(b->options, &f, path, &why);
	if (ok && !VEC_PUSH(&b->others, f)) {
		file_unload(&f);
		return err_nomem(e);
	}
	ok = ok && take_listing(b, (struct str){(const char *)f.data, f.size}, path, &why);
	if (ok || import_note_unread(b->trace, "damaged-file", path,
			  "is left out, its code stays unknown", &why))
		return true;
	err_move(e, &why);
	return false;
}

bool sqtt_more_code(struct sqtt_build *b, struct incore_error *e)
{
	const char *given = b->options ? b->options->code : NULL;

	if (b->container.rgp)
		return !given || err_set(e, INCORE_USAGE, "bad-option",
					 "--code: an .rgp file has its code inside");
	if (!take_own(b, e))
		return false;
	if (!given)
		return true;
	if (file_is_dir_in(file_fence_of_named(import_fence(b->options)), given)
			? take_folder(b, given, e)
			: take_file(b, given, e))
		return true;
	return err_wrap(e, "--code");
}

/* --- objects without a number ----------------------------------------------------------------- */

/* The code object of the trace whose programs begin where functions of this one do; 0: none. */
static uint32_t find_number(const struct sqtt_build *b, const struct sqtt_object *o)
{
	uint64_t most = 0;
	uint32_t best = 0;

	EACH (const struct sqtt_engine, g, b->loader->engines, b->loader->n_engines) {
		EACH (const struct sqtt_entry, n, g->entries.v, g->entries.n) {
			const struct elf_function *f = elf_function_at(&o->elf, n->pc);

			if (!n->object || has_code_of(b, n->object) || !f || f->address != n->pc)
				continue;
			if (n->starts > most || !best) {
				most = n->starts;
				best = n->object;
			}
		}
	}
	return best;
}

bool sqtt_place_objects(struct sqtt_build *b, bool *is_new, struct incore_error *e)
{
	*is_new = false;
	for (size_t i = 0; i < b->unplaced.n; i++) {
		struct sqtt_object o = b->unplaced.v[i];

		o.id = find_number(b, &o);
		if (!o.id) {
			if (!trace_note(b->trace, "code-not-placed", o.path, INCORE_NO_OFFSET, 1,
				    "no program of the trace without code begins where a function of this code does: it is left out"))
				return err_nomem(e);
			continue;
		}
		if (!sqtt_objects_add(b, &o, e))
			return false;
		*is_new = true;
	}
	b->unplaced.n = 0;
	return true;
}
