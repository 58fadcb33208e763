/* SPDX-License-Identifier: Apache-2.0 */
/* cubin.c: sections and functions of a CUDA binary. */
#include "codec/cubin.h"

#include "base/search.h"
#include "base/vec.h"

#define SYMBOL_BYTES 24u
#define RELOCATION_BYTES 24u
#define TYPE_SYMTAB 2u
#define TYPE_RELA 4u
#define SYMBOL_FUNCTION 2u
#define TEXT_PREFIX ".text."
/* Since ABI 8 the target is in the second byte of e_flags. */
#define ABI_WITH_WIDE_FLAGS 8u

static uint64_t get(const uint8_t *p, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = n; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

/* A string that is NUL-terminated inside its section; "" otherwise. */
static const char *string_at(const struct elf_image *x, uint32_t section, uint64_t offset)
{
	const struct elf_section *s = section < x->n_sections ? &x->sections[section] : NULL;

	if (!s || !s->data || offset >= s->size ||
		!memchr(s->data + offset, 0, (size_t)(s->size - offset)))
		return "";
	return (const char *)s->data + offset;
}

static bool is_code(const struct elf_section *s)
{
	return s->data && str_starts(str_of(s->name), TEXT_PREFIX);
}

ORDER(by_place, struct cubin_symbol, UP(section) UP(offset) A_TO_Z(name))

static bool read_symbols(struct cubin *c, struct arena *a)
{
	const struct elf_image *x = &c->elf;
	VEC(struct cubin_symbol) found = {0};
	bool ok = true;

	EACH (const struct elf_section, s, x->sections, x->n_sections) {
		for (uint64_t at = 0;
			s->type == TYPE_SYMTAB && s->data && ok && s->size - at >= SYMBOL_BYTES;
			at += SYMBOL_BYTES) {
			const uint8_t *p = s->data + at;
			struct cubin_symbol y = {
				.name = string_at(x, s->link, get(p, 4)),
				.section = (uint32_t)get(p + 6, 2),
				.index = (uint32_t)(at / SYMBOL_BYTES),
				.offset = get(p + 8, 8),
				.size = get(p + 16, 8),
			};

			if ((p[4] & 15) == SYMBOL_FUNCTION && *y.name &&
				y.section < x->n_sections && is_code(&x->sections[y.section]) &&
				y.offset < x->sections[y.section].size)
				ok = VEC_PUSH(&found, y);
		}
	}
	SORT(found.v, found.n, by_place);
	c->symbols = arena_memdup(a, found.v, found.n * sizeof(*found.v));
	c->n_symbols = (uint32_t)found.n;
	ok = ok && (c->symbols || !found.n);
	VEC_FREE(&found);
	return ok;
}

bool cubin_open(struct cubin *c, struct str bytes, const char *path, struct arena *a,
	struct incore_error *e)
{
	*c = (struct cubin){0};
	if (!elf_open_cuda(&c->elf, bytes, path, a, e))
		return false;
	c->sm = c->elf.abi_version >= ABI_WITH_WIDE_FLAGS ? c->elf.flags >> 8 & 255
							  : c->elf.flags & 255;
	return read_symbols(c, a) || err_nomem(e);
}

uint32_t cubin_find_code(const struct cubin *c, const char *name)
{
	for (uint32_t i = 0; i < c->elf.n_sections; i++)
		if (is_code(&c->elf.sections[i]) &&
			strcmp(c->elf.sections[i].name + strlen(TEXT_PREFIX), name) == 0)
			return i;
	return UINT32_MAX;
}

ORDER(by_offset, struct cubin_target, UP(at))

bool cubin_targets_of(const struct cubin *c, uint32_t section, struct cubin_targets *out)
{
	const struct elf_image *x = &c->elf;

	EACH (const struct elf_section, s, x->sections, x->n_sections) {
		const struct elf_section *names =
			s->link < x->n_sections ? &x->sections[s->link] : NULL;

		if (s->type != TYPE_RELA || s->info != section || !s->data || !names ||
			!names->data)
			continue;
		for (uint64_t at = 0; s->size - at >= RELOCATION_BYTES; at += RELOCATION_BYTES) {
			const uint8_t *p = s->data + at, *symbol;
			uint64_t k = get(p + 12, 4);

			if (k >= names->size / SYMBOL_BYTES)
				continue;
			symbol = names->data + k * SYMBOL_BYTES;
			if (!VEC_PUSH(out,
				    (struct cubin_target){get(p, 8), (uint32_t)get(symbol + 6, 2),
					    get(symbol + 8, 8) + get(p + 16, 8)}))
				return false;
		}
	}
	SORT(out->v, out->n, by_offset);
	return true;
}
