/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.c: the sections, functions and notes of an AMD code object. Every number is checked.
 *
 * Parts: names of C++; sections and symbols.
 */
#include "codec/elf.h"

#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"
#include "codec/demangle.h"

/* --- names of C++ ----------------------------------------------------------------------------- */

/*
 * Uses __cxa_demangle of the C++ runtime. Its recursion and its output grow with the input, so long
 * or deeply nested names are not demangled.
 */

#define MAX_NAME 2048
#define MAX_DEPTH 256
#define MAX_TEXT (1u << 16)

char *__cxa_demangle(const char *name, char *buffer, size_t *n, int *status);

/* Number of letters that open a construct: an upper bound of the nesting depth. */
static size_t depth_of(const char *name)
{
	size_t depth = 0;

	for (; *name; name++)
		depth += strchr("INXJPRKLFMADTG", *name) != NULL;
	return depth;
}

const char *demangle(const char *name, struct arena *a)
{
	size_t n = strlen(name);
	int status = 0;
	char *text;
	const char *out;

	if (strncmp(name, "_Z", 2) != 0 || n > MAX_NAME || depth_of(name) > MAX_DEPTH)
		return "";
	text = __cxa_demangle(name, NULL, NULL, &status);
	if (!text)
		return "";
	n = strlen(text);
	out = n > MAX_TEXT ? "" : arena_strndup(a, text, n);
	free(text);
	return out;
}

/* --- sections and symbols --------------------------------------------------------------------- */

#define HEADER_BYTES 64u
#define SECTION_BYTES 64u
#define SYMBOL_BYTES 24u
#define MAX_SECTIONS 65536u

enum section_type {
	SECTION_PROGBITS = 1,
	SECTION_SYMTAB = 2,
	SECTION_STRTAB = 3,
	SECTION_NOTE = 7,
	SECTION_NOBITS = 8,
	SECTION_DYNSYM = 11,
};

#define FLAG_EXECUTABLE 4u
#define SYMBOL_FUNCTION 2u

struct raw_section {
	uint32_t name, type, link, info;
	uint64_t flags, address, offset, size;
};

struct elf_reader {
	uint16_t machine; /* the expected machine */
	struct elf_image *image;
	struct str bytes;
	const char *path;
	struct arena *arena;
	struct raw_section *raw;
	VEC(struct elf_function) functions;
};

static uint64_t elf_get(const struct elf_reader *r, uint64_t offset, unsigned n)
{
	return le_bytes((const uint8_t *)r->bytes.p + offset, n);
}

static bool elf_fits(const struct elf_reader *r, uint64_t offset, uint64_t size)
{
	return offset <= r->bytes.n && size <= r->bytes.n - offset;
}

/* Some assemblers leave all of e_ident zero; the rest is then checked as usual. */
static bool is_ident_blank(const struct elf_reader *r)
{
	static const char zero[16];

	return r->bytes.n >= HEADER_BYTES && memcmp(r->bytes.p, zero, sizeof(zero)) == 0;
}

static bool elf_read_header(
	struct elf_reader *r, uint64_t *table, uint32_t *n, uint32_t *names, struct incore_error *e)
{
	struct elf_image *x = r->image;
	uint64_t entry_bytes;
	bool is_blank = is_ident_blank(r);

	if (!is_blank && (r->bytes.n < 4 || memcmp(r->bytes.p, "\177ELF", 4) != 0))
		return err_file(e, "bad-magic", r->path, 0, "not an ELF file");
	if (r->bytes.n < HEADER_BYTES)
		return err_file(e, "truncated", r->path, r->bytes.n,
			"expected an ELF header of %u bytes, found %zu", HEADER_BYTES, r->bytes.n);
	if (!is_blank && (r->bytes.p[4] != 2 || (uint8_t)r->bytes.p[5] > 1))
		return err_file(e, "bad-value", r->path, 4,
			"expected a 64-bit little-endian ELF, found class %u, data %u",
			(uint8_t)r->bytes.p[4], (uint8_t)r->bytes.p[5]);
	x->machine = (uint16_t)elf_get(r, 18, 2);
	x->abi_version = (uint8_t)elf_get(r, 8, 1);
	x->flags = (uint32_t)elf_get(r, 48, 4);
	*table = elf_get(r, 40, 8);
	entry_bytes = elf_get(r, 58, 2);
	*n = (uint32_t)elf_get(r, 60, 2);
	*names = (uint32_t)elf_get(r, 62, 2);
	if (x->machine != r->machine && x->machine != 0)
		return err_file(e, "wrong-machine", r->path, 18,
			"expected %s GPU code (machine %u), found machine %u",
			r->machine == ELF_MACHINE_CUDA ? "NVIDIA" : "AMD", r->machine, x->machine);
	if (entry_bytes != SECTION_BYTES && entry_bytes != 0)
		return err_file(e, "bad-value", r->path, 58,
			"expected section headers of %u bytes, found %llu", SECTION_BYTES,
			(unsigned long long)entry_bytes);
	if (*n == 0)
		return err_file(e, "no-sections", r->path, 60, "an ELF file without sections");
	if (!elf_fits(r, *table, (uint64_t)*n * SECTION_BYTES))
		return err_file(e, "truncated", r->path, r->bytes.n,
			"%u section headers at byte %llu do not fit a file of %zu bytes", *n,
			(unsigned long long)*table, r->bytes.n);
	return true;
}

/* A name in a string section, NUL-terminated inside it; "" otherwise. */
static const char *elf_string_at(const struct elf_reader *r, uint32_t section, uint64_t offset)
{
	const struct raw_section *s;

	if (section >= r->image->n_sections)
		return "";
	s = &r->raw[section];
	if (s->type != SECTION_STRTAB || offset >= s->size || !elf_fits(r, s->offset, s->size) ||
		!memchr(r->bytes.p + s->offset + offset, 0, (size_t)(s->size - offset)))
		return "";
	return r->bytes.p + s->offset + offset;
}

static bool elf_read_sections(struct elf_reader *r, struct incore_error *e)
{
	struct elf_image *x = r->image;
	uint64_t table = 0;
	uint32_t n = 0, names = 0;

	if (!elf_read_header(r, &table, &n, &names, e))
		return false;
	x->sections = arena_zalloc(r->arena, n, sizeof(*x->sections));
	r->raw = mem_zalloc(n, sizeof(*r->raw));
	if (!x->sections || !r->raw)
		return err_nomem(e);
	x->n_sections = n;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t at = table + (uint64_t)i * SECTION_BYTES;

		r->raw[i] = (struct raw_section){
			.name = (uint32_t)elf_get(r, at, 4),
			.type = (uint32_t)elf_get(r, at + 4, 4),
			.flags = elf_get(r, at + 8, 8),
			.address = elf_get(r, at + 16, 8),
			.offset = elf_get(r, at + 24, 8),
			.size = elf_get(r, at + 32, 8),
			.link = (uint32_t)elf_get(r, at + 40, 4),
			.info = (uint32_t)elf_get(r, at + 44, 4),
		};
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct raw_section *s = &r->raw[i];
		bool has_bytes = s->type != SECTION_NOBITS && s->type != 0 && s->size;

		if (has_bytes && !elf_fits(r, s->offset, s->size))
			return err_file(e, "truncated", r->path, r->bytes.n,
				"section %u (%llu bytes at %llu) does not fit a file of %zu bytes",
				i, (unsigned long long)s->size, (unsigned long long)s->offset,
				r->bytes.n);
		x->sections[i] = (struct elf_section){
			.name = elf_string_at(r, names, s->name),
			.type = s->type,
			.flags = s->flags,
			.address = s->address,
			.data = has_bytes ? (const uint8_t *)r->bytes.p + s->offset : NULL,
			.size = s->size,
			.link = s->link,
			.info = s->info,
		};
	}
	return true;
}

static bool elf_read_symbols(struct elf_reader *r, uint32_t section, struct incore_error *e)
{
	const struct raw_section *s = &r->raw[section];

	for (uint64_t at = 0; s->size >= SYMBOL_BYTES && at <= s->size - SYMBOL_BYTES;
		at += SYMBOL_BYTES) {
		uint64_t p = s->offset + at;
		struct elf_function f = {
			.address = elf_get(r, p + 8, 8),
			.size = elf_get(r, p + 16, 8),
			.demangled = "",
		};

		/* section index 0: not defined here */
		if ((elf_get(r, p + 4, 1) & 15) != SYMBOL_FUNCTION || elf_get(r, p + 6, 2) == 0 ||
			!elf_code_at(r->image, f.address))
			continue;
		f.name = elf_string_at(r, s->link, elf_get(r, p, 4));
		if (*f.name && !VEC_PUSH(&r->functions, f))
			return err_nomem(e);
	}
	return true;
}

static int compare_functions(const void *pa, const void *pb)
{
	const struct elf_function *a = pa, *b = pb;

	RETURN_UNLESS_EQUAL(a->address, b->address);
	if (a->size != b->size) /* if an address has several names, the largest counts */
		return a->size > b->size ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Clips functions at the next one and at the end of their section. */
static void clip_functions(struct elf_image *x)
{
	for (uint32_t i = 0; i < x->n_functions; i++) {
		struct elf_function *f = &x->functions[i];
		const struct elf_section *s = elf_code_at(x, f->address);
		uint64_t room = s->size - (f->address - s->address);

		if (i + 1 < x->n_functions && x->functions[i + 1].address - f->address < room)
			room = x->functions[i + 1].address - f->address;
		if (f->size == 0 || f->size > room)
			f->size = room;
	}
}

static bool keep_functions(struct elf_reader *r, struct incore_error *e)
{
	struct elf_image *x = r->image;
	size_t kept = 0;

	SORT(r->functions.v, r->functions.n, compare_functions);
	x->functions = arena_zalloc(r->arena, r->functions.n + 1, sizeof(*x->functions));
	if (!x->functions)
		return err_nomem(e);
	EACH (struct elf_function, f, r->functions.v, r->functions.n) {
		if (kept && x->functions[kept - 1].address == f->address)
			continue;
		f->demangled = demangle(f->name, r->arena);
		if (!f->demangled)
			return err_nomem(e);
		x->functions[kept++] = *f;
	}
	x->n_functions = (uint32_t)kept;
	clip_functions(x);
	return true;
}

static bool read_functions(struct elf_reader *r, struct incore_error *e)
{
	static const uint32_t types[] = {SECTION_SYMTAB, SECTION_DYNSYM};

	for (size_t k = 0; k < sizeof(types) / sizeof(*types) && !r->functions.n; k++)
		for (uint32_t i = 0; i < r->image->n_sections; i++)
			if (r->raw[i].type == types[k] && !elf_read_symbols(r, i, e))
				return false;
	return keep_functions(r, e);
}

bool elf_open(struct elf_image *x, struct str bytes, const char *path, struct arena *a,
	struct incore_error *e)
{
	struct elf_reader r = {
		ELF_MACHINE_AMDGPU, .image = x, .bytes = bytes, .path = path, .arena = a};
	bool ok;

	*x = (struct elf_image){0};
	ok = elf_read_sections(&r, e) && read_functions(&r, e);
	mem_free(r.raw);
	VEC_FREE(&r.functions);
	return ok;
}

bool elf_open_cuda(struct elf_image *x, struct str bytes, const char *path, struct arena *a,
	struct incore_error *e)
{
	struct elf_reader r = {
		ELF_MACHINE_CUDA, .image = x, .bytes = bytes, .path = path, .arena = a};
	bool ok;

	*x = (struct elf_image){0};
	ok = elf_read_sections(&r, e);
	mem_free(r.raw);
	return ok;
}

const struct elf_section *elf_code_at(const struct elf_image *x, uint64_t address)
{
	EACH (const struct elf_section, s, x->sections, x->n_sections) {
		if (s->type == SECTION_PROGBITS && s->flags & FLAG_EXECUTABLE && s->data &&
			address >= s->address && address - s->address < s->size)
			return s;
	}
	return NULL;
}

const struct elf_function *elf_function_at(const struct elf_image *x, uint64_t address)
{
	uint32_t lo = 0, hi = x->n_functions;

	BISECT(lo, hi, i, x->functions[i].address <= address);
	if (!lo || address - x->functions[lo - 1].address >= x->functions[lo - 1].size)
		return NULL;
	return &x->functions[lo - 1];
}

const struct elf_section *elf_section_named(const struct elf_image *x, const char *name)
{
	for (uint32_t i = 0; i < x->n_sections; i++)
		if (strcmp(x->sections[i].name, name) == 0)
			return &x->sections[i];
	return NULL;
}

static struct str note_in(const struct elf_section *s, const char *owner, uint32_t type)
{
	uint64_t at = 0;

	while (s->size - at >= 12) {
		const uint8_t *p = s->data + at;
		uint64_t name_bytes = le32(p), bytes = le32(p + 4);
		uint64_t name_room = (name_bytes + 3) & ~(uint64_t)3,
			 room = (bytes + 3) & ~(uint64_t)3;

		if (name_room > s->size - at - 12 || bytes > s->size - at - 12 - name_room)
			break;
		if (le32(p + 8) == type && name_bytes == strlen(owner) + 1 &&
			memcmp(p + 12, owner, name_bytes) == 0)
			return (struct str){(const char *)p + 12 + name_room, (size_t)bytes};
		if (room > s->size - at - 12 - name_room)
			break;
		at += 12 + name_room + room;
	}
	return (struct str){NULL, 0};
}

struct str elf_note(const struct elf_image *x, const char *owner, uint32_t type)
{
	for (uint32_t i = 0; i < x->n_sections; i++) {
		struct str found = {NULL, 0};

		if (x->sections[i].type == SECTION_NOTE && x->sections[i].data)
			found = note_in(&x->sections[i], owner, type);
		if (found.p)
			return found;
	}
	return (struct str){NULL, 0};
}
