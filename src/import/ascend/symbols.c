/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.c: source lines of instructions that only the raw dumps name. They ran at an address of
 * the simulated memory; its distance from the start of the program (pc_start_addr.txt, or else the
 * lowest pc) is the offset in aicore_binary.o, whose debug info has the line and the inlined
 * calls.
 */
#include "codec/dwarf.h"
#include "codec/elf.h"
#include "import/ascend/ascend.h"
#include "import/capture_cache.h"

static bool ascend_symbols_is_code(const struct asc_build *b, size_t i)
{
	const struct code_row *r = &b->code.v[i];
	struct str opcode = b->opcodes.strs[r->opcode];

	return r->n_frames == 0 && r->address && !str_is(opcode, "CACHEMISS") &&
	       !str_is(opcode, "Mark");
}

/* The start of the program in the image. */
static uint64_t code_start(const struct elf_image *x)
{
	const struct elf_section *text = elf_section_named(x, ".text");
	uint64_t lowest = UINT64_MAX;
	const uint64_t executable = 4; /* SHF_EXECINSTR */

	if (text)
		return text->address;
	for (uint32_t i = 0; i < x->n_sections; i++)
		if (x->sections[i].flags & executable && x->sections[i].address < lowest)
			lowest = x->sections[i].address;
	return lowest == UINT64_MAX ? 0 : lowest;
}

static uint64_t start_pc(const struct asc_build *b)
{
	uint64_t lowest = UINT64_MAX;

	if (b->start_pc)
		return b->start_pc;
	for (size_t i = 0; i < b->code.n; i++)
		if (ascend_symbols_is_code(b, i) && b->code.v[i].address < lowest)
			lowest = b->code.v[i].address;
	return lowest;
}

/* Innermost first; duplicate lines in a chain are kept once. */
static bool ascend_symbols_take_chain(struct asc_build *b, struct code_row *r,
	const struct dwarf_lines *d, const struct dwarf_chain *chain)
{
	struct strbuf text = {0};
	bool ok = true;

	r->first_frame = (uint32_t)b->frames.n;
	for (uint32_t i = 0; ok && i < chain->n && r->n_frames < UINT16_MAX; i++) {
		const struct dwarf_frame *f = &d->frames[chain->first + i];
		struct frame frame = {intern_add(&b->sources, str_of(d->files[f->file])), f->line};
		bool is_known = false;

		for (uint16_t k = 0; k < r->n_frames; k++)
			is_known |= b->frames.v[r->first_frame + k].source == frame.source &&
				    b->frames.v[r->first_frame + k].line == frame.line;
		if (is_known)
			continue;
		ok = frame.source != INTERN_NONE && VEC_PUSH(&b->frames, frame);
		r->n_frames++;
		sb_printf(&text, "%s%s:%u", text.n ? "\n" : "", d->files[f->file], f->line);
	}
	if (ok && text.n)
		r->source = arena_strndup(&b->trace->arena, text.p, text.n);
	ok = ok && !text.failed && r->source;
	sb_free(&text);
	return ok;
}

static bool take_lines(struct asc_build *b, const struct dwarf_lines *d)
{
	uint32_t k = 0;

	for (size_t i = 0; i < b->code.n; i++) {
		if (!ascend_symbols_is_code(b, i))
			continue;
		if (k >= d->n_chains ||
			!ascend_symbols_take_chain(b, &b->code.v[i], d, &d->chains[k++]))
			return false;
	}
	return !d->problem ||
	       asc_note(b, dwarf_is_built() ? "damaged-debug-info" : "no-libdw", INCORE_NO_OFFSET,
		       "aicore_binary.o: %s: source lines are missing", d->problem);
}

static bool look_up(struct asc_build *b, struct str bytes, const struct elf_image *x,
	struct arena *a, struct incore_error *e)
{
	uint64_t base = start_pc(b), text = code_start(x);
	uint64_t *addresses = mem_zalloc(b->code.n + 1, sizeof(*addresses));
	struct dwarf_lines d = {0};
	uint32_t n = 0;
	bool ok;

	if (!addresses)
		return err_nomem(e);
	for (size_t i = 0; i < b->code.n; i++)
		if (ascend_symbols_is_code(b, i))
			addresses[n++] = b->code.v[i].address - base + text;
	ok = !n || dwarf_lookup(&d, bytes, addresses, n, a, e);
	mem_free(addresses);
	if (ok && n && !take_lines(b, &d))
		ok = err_nomem(e);
	return ok;
}

bool asc_find_lines(struct asc_build *b, struct incore_error *e)
{
	struct file_data f = {0};
	struct incore_error why = {0};
	struct elf_image x;
	struct arena a;
	bool ok = true;

	if (!b->binary || !b->is_ticks ||
		!(b->binary_root
				? import_load_below(b->options, &f, b->binary_root, b->binary, NULL)
				: import_load(b->options, &f, b->binary, NULL)))
		return true;
	arena_init(&a);
	if (!elf_open(&x, (struct str){(const char *)f.data, f.size}, b->binary, &a, &why))
		ok = (why.status == INCORE_BAD_INPUT &&
			     trace_note(b->trace, "bad-binary", b->binary, INCORE_NO_OFFSET, 1,
				     "not an ELF file that can be read: %s: source lines are missing",
				     why.message ? why.message : "")) ||
		     err_nomem(e);
	else if (!dwarf_is_there(&x))
		ok = trace_note(b->trace, "no-debug-info", b->binary, INCORE_NO_OFFSET, 1,
			     "no debug info (built without -g): source lines are missing") ||
		     err_nomem(e);
	else
		ok = look_up(b, (struct str){(const char *)f.data, f.size}, &x, &a, e);
	incore_error_clear(&why);
	arena_deinit(&a);
	file_unload(&f);
	return ok;
}

/* Reads one line of hex; 0: unknown. */
void asc_read_start_pc(struct asc_build *b, const char *path)
{
	struct file_data f = {0};
	struct str s, line;
	uint64_t v;

	if (!import_load(b->options, &f, path, NULL))
		return;
	s = (struct str){(const char *)f.data, f.size};
	if (str_cut(&s, "\n", &line) && str_to_u64(str_trim(line), &v))
		b->start_pc = v;
	file_unload(&f);
}
