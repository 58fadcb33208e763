/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cubin.c: sections and functions of a CUDA binary.
 *
 * Parts: sections and functions; line tables.
 */
#include "codec/cubin.h"
#include "base/little_endian.h"
#include "base/search.h"
#include "base/vec.h"
#include "codec/varint.h"

/* --- sections and functions ------------------------------------------------------------------- */

#define SYMBOL_BYTES 24u
#define RELOCATION_BYTES 24u
#define TYPE_SYMTAB 2u
#define TYPE_RELA 4u
#define SYMBOL_FUNCTION 2u
#define TEXT_PREFIX ".text."
/* Since ABI 8 the target is in the second byte of e_flags. */
#define ABI_WITH_WIDE_FLAGS 8u

/* A string that is NUL-terminated inside its section; "" otherwise. */
static const char *cubin_string_at(const struct elf_image *x, uint32_t section, uint64_t offset)
{
	const struct elf_section *s = section < x->n_sections ? &x->sections[section] : NULL;

	if (!s || !s->data || offset >= s->size ||
		!memchr(s->data + offset, 0, (size_t)(s->size - offset)))
		return "";
	return (const char *)s->data + offset;
}

static bool cubin_is_code(const struct elf_section *s)
{
	return s->data && str_starts(str_of(s->name), TEXT_PREFIX);
}

ORDER(by_place, struct cubin_symbol, UP(section) UP(offset) A_TO_Z(name))

static bool cubin_read_symbols(struct cubin *c, struct arena *a)
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
				.name = cubin_string_at(x, s->link, le_bytes(p, 4)),
				.section = (uint32_t)le_bytes(p + 6, 2),
				.index = (uint32_t)(at / SYMBOL_BYTES),
				.offset = le_bytes(p + 8, 8),
				.size = le_bytes(p + 16, 8),
			};

			if ((p[4] & 15) == SYMBOL_FUNCTION && *y.name &&
				y.section < x->n_sections &&
				cubin_is_code(&x->sections[y.section]) &&
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
	return cubin_read_symbols(c, a) || err_nomem(e);
}

uint32_t cubin_find_code(const struct cubin *c, const char *name)
{
	for (uint32_t i = 0; i < c->elf.n_sections; i++)
		if (cubin_is_code(&c->elf.sections[i]) &&
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
			uint64_t k = le_bytes(p + 12, 4);

			if (k >= names->size / SYMBOL_BYTES)
				continue;
			symbol = names->data + k * SYMBOL_BYTES;
			if (!VEC_PUSH(out, (struct cubin_target){le_bytes(p, 8),
						   (uint32_t)le_bytes(symbol + 6, 2),
						   le_bytes(symbol + 8, 8) + le_bytes(p + 16, 8)}))
				return false;
		}
	}
	SORT(out->v, out->n, by_offset);
	return true;
}

/* --- line tables ------------------------------------------------------------------------------ */

/*
 * The line tables of a CUDA binary. nvcc -lineinfo and Triton write .debug_line of DWARF 2 without
 * any unit, which debug info libraries do not read: addresses are relocated, one sequence per
 * section. An NVIDIA opcode names the row into which the following rows were inlined: rows are
 * counted from 1 in each sequence.
 */

#define NO_FRAME UINT32_MAX
#define NO_SECTION UINT32_MAX

enum {
	OP_COPY = 1,
	OP_ADVANCE_PC = 2,
	OP_ADVANCE_LINE = 3,
	OP_SET_FILE = 4,
	OP_CONST_ADD_PC = 8,
	OP_FIXED_ADVANCE_PC = 9,
	OP_EXT_END = 1,
	OP_EXT_ADDRESS = 2,
	OP_EXT_INLINED_CALL = 0x90, /* NVIDIA: row, offset of the function's name */
};

struct program {
	struct bytes_reader r;
	const uint8_t *base; /* of .debug_line */
	unsigned version, min_inst, opcode_base, line_range;
	int line_base;
	uint8_t n_args[256];
	uint32_t first_file, n_files; /* range of this program in the list of all files */
};

struct state {
	uint32_t section;
	uint64_t offset;
	uint32_t file; /* number in the program, from 1 */
	int64_t line;
	uint32_t outer; /* row, from 1; 0: not inlined */
};

struct build {
	const struct cubin *c;
	struct arena *arena;
	struct cubin_lines *out;
	struct cubin_targets targets;
	VEC(const char *) files;
	VEC(struct cubin_frame) frames;
	VEC(struct cubin_line) lines;
	VEC(uint32_t) rows; /* frame of each row of the sequence being read */
	bool is_nomem;
};

char *cubin_plain_path(struct arena *a, const char *path)
{
	char *out = arena_strdup(a, path), *to = out;

	while (out && *path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && !memcmp(path, "..", 2) && to > out + 1) {
			for (to--; to > out && to[-1] != '/';)
				to--;
			path += n + (path[n] == '/');
		} else if (n == 1 && *path == '.' && path[1] == '/') {
			path += 2;
		} else {
			n += path[n] == '/';
			memmove(to, path, n);
			to += n;
			path += n;
		}
	}
	if (out)
		*to = '\0';
	return out;
}

static uint64_t cubin_take(struct bytes_reader *r, unsigned n)
{
	const uint8_t *p = bytes_take(r, n);

	return p ? le_bytes(p, n) : 0;
}

static int64_t take_sleb(struct bytes_reader *r)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t b;

	do {
		b = bytes_u8(r);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80 && !r->is_failed && shift < 70);
	if (b & 0x40 && shift < 64)
		v |= ~(uint64_t)0 << shift;
	return (int64_t)v;
}

static const char *take_string(struct bytes_reader *r)
{
	const uint8_t *end = r->p < r->end ? memchr(r->p, 0, (size_t)(r->end - r->p)) : NULL;
	const char *s = (const char *)r->p;

	if (!end) {
		r->is_failed = true;
		return "";
	}
	r->p = end + 1;
	return s;
}

/* --- relocations --- */

/* --- one program --- */

static const char *join_path(struct build *b, const char *dir, const char *name)
{
	char *whole = *name == '/' || !dir ? arena_strdup(b->arena, name)
					   : arena_printf(b->arena, "%s/%s", dir, name);

	return whole ? cubin_plain_path(b->arena, whole) : NULL;
}

static void cubin_add_file(
	struct build *b, struct program *p, const char *const *dirs, uint64_t n_dirs)
{
	const char *name = take_string(&p->r), *path;
	uint64_t dir = bytes_varint(&p->r);

	bytes_varint(&p->r); /* time of change */
	bytes_varint(&p->r); /* size */
	if (p->r.is_failed)
		return;
	path = join_path(b, dir && dir <= n_dirs ? dirs[dir - 1] : NULL, name);
	if (!path || !VEC_PUSH(&b->files, path))
		b->is_nomem = true;
	p->n_files++;
}

static bool cubin_read_header(struct build *b, struct program *p)
{
	VEC(const char *) dirs = {0};
	const uint8_t *after;
	uint64_t n;

	p->version = (unsigned)cubin_take(&p->r, 2);
	n = cubin_take(&p->r, 4);
	if (p->r.is_failed || p->version < 2 || p->version > 4 || n > (uint64_t)(p->r.end - p->r.p))
		return false;
	after = p->r.p + n;
	p->min_inst = bytes_u8(&p->r);
	if (p->version >= 4)
		bytes_u8(&p->r); /* operations per instruction */
	bytes_u8(&p->r);	 /* is_stmt at first */
	p->line_base = bytes_u8(&p->r);
	p->line_base -= p->line_base < 128 ? 0 : 256; /* sign extension */
	p->line_range = bytes_u8(&p->r);
	p->opcode_base = bytes_u8(&p->r);
	for (unsigned i = 1; i < p->opcode_base; i++)
		p->n_args[i] = bytes_u8(&p->r);
	while (!p->r.is_failed && p->r.p < after && *p->r.p)
		if (!VEC_PUSH(&dirs, take_string(&p->r)))
			b->is_nomem = true;
	bytes_u8(&p->r);
	p->first_file = (uint32_t)b->files.n;
	while (!p->r.is_failed && !b->is_nomem && p->r.p < after && *p->r.p)
		cubin_add_file(b, p, dirs.v, dirs.n);
	VEC_FREE(&dirs);
	if (p->line_range == 0 || p->opcode_base == 0 || p->r.p > after)
		p->r.is_failed = true;
	p->r.p = after;
	return !p->r.is_failed;
}

static void cubin_add_row(
	struct build *b, const struct program *p, const struct state *s, bool is_end)
{
	struct cubin_line line = {s->section, s->offset, NO_FRAME};
	uint32_t outer = s->outer && s->outer <= b->rows.n ? b->rows.v[s->outer - 1] : NO_FRAME;

	if (!is_end && s->file && s->file <= p->n_files && s->line > 0 && s->line <= UINT32_MAX) {
		struct cubin_frame f = {p->first_file + s->file - 1, (uint32_t)s->line,
			outer == NO_FRAME ? 0 : outer + 1};

		line.frame = (uint32_t)b->frames.n;
		b->is_nomem |= !VEC_PUSH(&b->frames, f);
	}
	b->is_nomem |= !VEC_PUSH(&b->rows, line.frame);
	if (s->section != NO_SECTION)
		b->is_nomem |= !VEC_PUSH(&b->lines, line);
}

static void set_address(struct build *b, struct program *p, struct state *s, uint64_t n)
{
	uint64_t at = (uint64_t)(p->r.p - p->base);
	size_t lo = 0, hi = b->targets.n;

	s->offset = cubin_take(&p->r, n > 8 ? 8 : (unsigned)n);
	BISECT(lo, hi, i, b->targets.v[i].at < at);
	s->section = NO_SECTION;
	if (lo < b->targets.n && b->targets.v[lo].at == at) {
		s->section = b->targets.v[lo].section;
		s->offset += b->targets.v[lo].offset;
	}
}

static void run_extended(struct build *b, struct program *p, struct state *s)
{
	static const struct state first = {.section = NO_SECTION, .file = 1, .line = 1};
	uint64_t n = bytes_varint(&p->r);
	const uint8_t *after;
	uint8_t op;

	if (p->r.is_failed || n == 0 || n > (uint64_t)(p->r.end - p->r.p)) {
		p->r.is_failed = true;
		return;
	}
	after = p->r.p + n;
	op = bytes_u8(&p->r);
	if (op == OP_EXT_END) {
		cubin_add_row(b, p, s, true);
		b->rows.n = 0;
		*s = first;
	} else if (op == OP_EXT_ADDRESS) {
		set_address(b, p, s, n - 1);
	} else if (op == OP_EXT_INLINED_CALL) {
		s->outer = (uint32_t)bytes_varint(&p->r);
	}
	p->r.p = after;
}

static void run_standard(struct build *b, struct program *p, struct state *s, uint8_t op)
{
	switch (op) {
	case OP_COPY:
		cubin_add_row(b, p, s, false);
		break;
	case OP_ADVANCE_PC:
		s->offset += bytes_varint(&p->r) * p->min_inst;
		break;
	case OP_ADVANCE_LINE:
		s->line = (int64_t)((uint64_t)s->line + (uint64_t)take_sleb(&p->r));
		break;
	case OP_SET_FILE:
		s->file = (uint32_t)bytes_varint(&p->r);
		break;
	case OP_CONST_ADD_PC:
		s->offset += (uint64_t)((255 - p->opcode_base) / p->line_range) * p->min_inst;
		break;
	case OP_FIXED_ADVANCE_PC:
		s->offset += cubin_take(&p->r, 2);
		break;
	default:
		for (unsigned i = 0; i < p->n_args[op]; i++)
			bytes_varint(&p->r);
	}
}

static void run_program(struct build *b, struct program *p)
{
	struct state s = {.section = NO_SECTION, .file = 1, .line = 1};

	b->rows.n = 0;
	while (!p->r.is_failed && !b->is_nomem && p->r.p < p->r.end) {
		uint8_t op = bytes_u8(&p->r);

		if (op == 0) {
			run_extended(b, p, &s);
		} else if (op < p->opcode_base) {
			run_standard(b, p, &s, op);
		} else {
			unsigned k = op - p->opcode_base;

			s.offset += (uint64_t)(k / p->line_range) * p->min_inst;
			s.line += p->line_base + (int)(k % p->line_range);
			cubin_add_row(b, p, &s, false);
		}
	}
}

/* --- all of them --- */

static void read_programs(struct build *b, const struct elf_section *s)
{
	const uint8_t *p = s->data, *end = s->data + s->size;

	while (end - p >= 4 && !b->is_nomem && !b->out->problem) {
		uint64_t n = le_bytes(p, 4);
		struct program x = {.base = s->data};

		p += 4;
		if (n > (uint64_t)(end - p)) {
			b->out->problem = "the line table is cut off";
			return;
		}
		x.r = (struct bytes_reader){p, p + n, false};
		if (!cubin_read_header(b, &x))
			b->out->problem = x.version > 4 ? "line tables of DWARF 5 are not read"
							: "the line table is damaged";
		else
			run_program(b, &x);
		if (x.r.is_failed)
			b->out->problem = "the line table is damaged";
		p += n;
	}
}

struct ordered {
	struct cubin_line line;
	size_t order;
};

ORDER(by_line, struct ordered, UP(line.section) UP(line.offset) UP(order))

/* If several rows have the same place, the last one counts. */
static bool sort_lines(struct build *b)
{
	struct ordered *v = mem_zalloc(b->lines.n + 1, sizeof(*v));
	size_t n = b->lines.n;

	for (size_t i = 0; v && i < n; i++)
		v[i] = (struct ordered){b->lines.v[i], i};
	SORT(v, v ? n : 0, by_line);
	for (size_t i = 0; v && i < n; i++)
		b->lines.v[i] = v[i].line;
	mem_free(v);
	return v != NULL;
}

#define KEEP(b, member)                                                                            \
	((b)->out->member = arena_memdup(                                                          \
		 (b)->arena, (b)->member.v, (b)->member.n * sizeof(*(b)->member.v)),               \
		(b)->out->n_##member = (uint32_t)(b)->member.n,                                    \
		(b)->out->member || !(b)->member.n)

bool cubin_lines_read(
	const struct cubin *c, struct cubin_lines *out, struct arena *a, struct incore_error *e)
{
	struct build b = {.c = c, .arena = a, .out = out};
	bool ok = true;

	*out = (struct cubin_lines){0};
	for (uint32_t i = 0; ok && i < c->elf.n_sections; i++) {
		const struct elf_section *s = &c->elf.sections[i];

		if (!s->data || strcmp(s->name, ".debug_line") != 0)
			continue;
		ok = cubin_targets_of(c, i, &b.targets);
		if (ok)
			read_programs(&b, s);
	}
	ok = ok && !b.is_nomem && sort_lines(&b) && KEEP(&b, files) && KEEP(&b, frames) &&
	     KEEP(&b, lines);
	VEC_FREE(&b.targets);
	VEC_FREE(&b.files);
	VEC_FREE(&b.frames);
	VEC_FREE(&b.lines);
	VEC_FREE(&b.rows);
	return ok || err_nomem(e);
}

const struct cubin_frame *cubin_frame_at(
	const struct cubin_lines *l, uint32_t section, uint64_t offset)
{
	uint32_t lo = 0, hi = l->n_lines;

	BISECT(lo, hi, i,
		l->lines[i].section < section ||
			(l->lines[i].section == section && l->lines[i].offset <= offset));
	if (!lo || l->lines[lo - 1].section != section || l->lines[lo - 1].frame == NO_FRAME)
		return NULL;
	return &l->frames[l->lines[lo - 1].frame];
}
