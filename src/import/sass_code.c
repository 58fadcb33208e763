/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_code.c: rows, source lines and sources of the functions that ran.
 *
 * Parts: text of NVIDIA's disassembler; classes and waits; rows, source lines and sources.
 */
#include "import/sass_code.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/little_endian.h"
#include "base/process.h"
#include "base/search.h"
#include "import/other_sources.h"
#include "isa/sass/sass_waits.h"

/* --- text of NVIDIA's disassembler ------------------------------------------------------------ */

/*
 * The text of instructions from NVIDIA's disassembler, if it is installed. Only for display:
 * classes, waits and branches come from our own decoder. It runs under a guard with limits of time
 * and memory, and a failure costs only the operands in a listing.
 */

#define LIMIT_MS 20000u
#define MEMORY_BYTES ((uint64_t)2 << 30)
#define MAX_TEXT 400u

/* The function of a binary whose section begins in this line, which has `.section .text.NAME,`. */
static struct sass_function *section_of(struct sass_code *c, uint32_t binary, struct str line)
{
	ptrdiff_t at = str_find(line, ".text.");
	struct str name = at < 0 ? line : str_sub(line, (size_t)at + strlen(".text."), line.n);

	at = str_find(name, ",");
	name = at < 0 ? name : str_trim(str_sub(name, 0, (size_t)at));
	EACH (struct sass_function, f, c->functions.v, c->functions.n) {
		if (f->binary == binary && f->n_inst && str_is(name, f->name))
			return f;
	}
	return NULL;
}

/* "/" "*0040*" "/  LDG.E R2, [R2.64] ;": takes the text of the instruction at that offset of a
 * section. */
static bool sass_code_take_line(struct sass_code *c, struct sass_function *f, struct str line)
{
	char hex[16] = "0x";
	ptrdiff_t close = str_find(line, "*/"), end = str_find(line, ";");
	struct code_row *row;
	uint64_t offset;
	struct str text;

	if (!str_starts(line, "/*") || close < 3 || close > 12 || end < close)
		return true;
	memcpy(hex + 2, line.p + 2, (size_t)close - 2);
	hex[close] = '\0';
	text = str_trim(str_sub(line, (size_t)close + 2, (size_t)(end - close) - 2));
	if (!str_to_u64(str_of(hex), &offset) || offset % SASS_INST_BYTES || !text.n ||
		text.n > MAX_TEXT || offset / SASS_INST_BYTES >= f->n_inst)
		return true;
	row = &c->rows.v[f->row_of[offset / SASS_INST_BYTES]];
	row->text = arena_strndup(&c->t->arena, text.p, text.n);
	row->text_len = (uint32_t)text.n;
	return row->text != NULL;
}

static bool take_listing(struct sass_code *c, uint32_t binary, struct str all)
{
	struct sass_function *f = NULL;
	struct str line;

	while (str_cut(&all, "\n", &line)) {
		line = str_trim(line);
		if (str_starts(line, ".section"))
			f = section_of(c, binary, line);
		else if (f && !sass_code_take_line(c, f, line))
			return false;
	}
	return true;
}

/* Writes the cubin to a separate file, which the disassembler needs. */
static bool write_cubin(char path[256], struct str bytes)
{
	int fd;
	bool ok;

	snprintf(path, 256, "%s/incore-cubin-XXXXXX", file_temp_root());
	fd = mkstemp(path);
	if (fd < 0)
		return false;
	leftover_add(path, false);
	ok = write_all(fd, bytes.p, bytes.n, NULL);
	close(fd);
	return ok;
}

/* Writes the symbols of the listed functions: a binary may have thousands of others. False: out of
 * memory; the text is empty if a function has no symbol. */
static bool put_symbols(const struct sass_code *c, uint32_t binary, struct strbuf *out)
{
	const struct cubin *b = &c->binaries.v[binary].cubin;

	EACH (const struct sass_function, f, c->functions.v, c->functions.n) {
		uint32_t i = 0;

		if (f->binary != binary || !f->n_inst)
			continue;
		while (i < b->n_symbols && (b->symbols[i].section != f->section ||
						   strcmp(b->symbols[i].name, f->name) != 0))
			i++;
		if (i == b->n_symbols) {
			sb_reset(out);
			break;
		}
		sb_printf(out, "%s%u", out->n ? "," : "", b->symbols[i].index);
	}
	return !out->failed;
}

/* Takes the texts of rows from nvdisasm if it is installed and INCORE_DISASM allows it. */
static bool sass_ask_nvdisasm(struct sass_code *c, struct incore_error *e)
{
	const char *which = c->options->disasm;
	bool is_path = which && strchr(which, '/') && strstr(which, "nvdisasm");
	char *program = is_path ? NULL : process_find("nvdisasm");
	struct strbuf out = {0}, symbols = {0};
	bool ok = true;

	if (which && *which && !is_path && strcmp(which, "auto") != 0 &&
		strcmp(which, "nvdisasm") != 0) {
		mem_free(program);
		return true;
	}
	for (uint32_t i = 0; ok && (program || is_path) && i < c->binaries.n; i++) {
		char path[256];
		const char *argv[] = {is_path ? which : program, "-c", path, NULL, NULL, NULL};
		struct process_spec spec = {.argv = argv,
			.output = &out,
			.limit_ms = LIMIT_MS,
			.memory_bytes = MEMORY_BYTES};
		struct process_result r = {0};

		sb_reset(&out);
		sb_reset(&symbols);
		if (!put_symbols(c, i, &symbols)) {
			ok = err_nomem(e);
			break;
		}
		if (symbols.n) {
			argv[3] = "-fun";
			argv[4] = symbols.p;
		}
		if (!c->binaries.v[i].is_open || !write_cubin(path, c->binaries.v[i].bytes))
			continue;
		ok = process_run(&spec, &r, e);
		unlink(path);
		leftover_drop(path);
		if (ok && r.end == PROCESS_EXITED && r.code == 0 &&
			!take_listing(c, i, (struct str){out.p, out.n}))
			ok = err_nomem(e);
	}
	sb_free(&symbols);
	sb_free(&out);
	mem_free(program);
	return ok;
}

/* --- classes and waits ------------------------------------------------------------------------ */

/*
 * Classifies the instructions of a kernel and links each to those it may have waited for: maps the
 * decoder's classes to those of the trace, and adds its candidates for the sampled stall reasons.
 */

#define TEXT_BYTES 128
#define MAX_CANDIDATES 32u
#define OPCODE_CALL_ABS 0x943u
#define MAX_JUMPS (1u << 20) /* no real code has so many: a file with more is malicious */
#define TYPE_NV_INFO 0x70000000u
#define INFO_SIZED 4u /* format of a record that is followed by its bytes */
#define INFO_JUMP_TABLES 0x34u

_Static_assert((int)CODE_LINK_WRITE == (int)SASS_WAIT_WRITE &&
		       (int)CODE_LINK_REGISTER == (int)SASS_WAIT_REGISTER,
	"the first kinds of links are those of the decoder");

static const uint8_t classes[SASS_CLASSES] = {
	[SASS_UNKNOWN] = CLASS_OTHER,
	[SASS_FMA] = CLASS_VALU,
	[SASS_ALU] = CLASS_VALU,
	[SASS_HALF] = CLASS_VALU,
	[SASS_DOUBLE] = CLASS_VALU,
	[SASS_XU] = CLASS_TRANS,
	[SASS_UNIFORM] = CLASS_SALU,
	[SASS_TENSOR] = CLASS_MATRIX,
	[SASS_TENSOR_ASYNC] = CLASS_MATRIX,
	[SASS_LOAD_GLOBAL] = CLASS_VMEM_LOAD,
	[SASS_STORE_GLOBAL] = CLASS_VMEM_STORE,
	[SASS_LOAD_SHARED] = CLASS_LDS,
	[SASS_STORE_SHARED] = CLASS_LDS,
	[SASS_LOAD_LOCAL] = CLASS_VMEM_LOAD,
	[SASS_STORE_LOCAL] = CLASS_VMEM_STORE,
	[SASS_LOAD_CONST] = CLASS_SMEM,
	[SASS_ATOMIC_GLOBAL] = CLASS_VMEM_ATOMIC,
	[SASS_ATOMIC_SHARED] = CLASS_LDS,
	[SASS_ASYNC_COPY] = CLASS_VMEM_TO_LDS,
	[SASS_ASYNC_BULK] = CLASS_VMEM_TO_LDS,
	[SASS_TENSOR_MEMORY] = CLASS_LDS,
	[SASS_TEXTURE] = CLASS_VMEM_LOAD,
	[SASS_SURFACE] = CLASS_VMEM_LOAD,
	[SASS_SHUFFLE] = CLASS_LDS_XLANE,
	[SASS_SPECIAL] = CLASS_MSG,
	[SASS_BARRIER] = CLASS_BARRIER,
	[SASS_MBARRIER] = CLASS_BARRIER,
	[SASS_WARPGROUP] = CLASS_WAIT,
	[SASS_FENCE] = CLASS_WAIT,
	[SASS_DEPBAR] = CLASS_WAIT,
	[SASS_CONVERGE] = CLASS_BRANCH,
	[SASS_BRANCH] = CLASS_BRANCH,
	[SASS_CALL] = CLASS_BRANCH,
	[SASS_RETURN] = CLASS_BRANCH,
	[SASS_EXIT] = CLASS_DRAIN,
	[SASS_CONTROL] = CLASS_NOP,
};

static unsigned sm_of(const struct sass_code *c, const struct sass_function *f)
{
	return c->binaries.v[f->binary].cubin.sm;
}

static bool sass_code_write_text(struct sass_code *c, const struct sass_function *f, uint32_t i)
{
	const uint8_t *p = f->code + (size_t)i * SASS_INST_BYTES;
	struct sass_inst inst = sass_decode(sm_of(c, f), p);
	struct code_row *row = &c->rows.v[f->row_of[i]];
	char text[TEXT_BYTES];
	struct str s = {row->text, row->text_len}, word;

	if (!s.n) {
		c->n_unsure += !sass_text(sm_of(c, f), p, &inst, text, sizeof(text));
		s = str_of(text);
	}
	word = s;
	/* A guard precedes the mnemonic. */
	if (word.n && word.p[0] == '@')
		word = str_sub(word, strcspn(word.p, " ") + 1, word.n);
	word.n = strcspn(word.n ? word.p : "", " .");
	if (!row->text_len)
		row->text = arena_strndup(&c->t->arena, s.p, s.n);
	row->text_len = (uint32_t)s.n;
	row->opcode = intern_add(&c->opcodes, word);
	row->inst_class = classes[inst.inst_class < SASS_CLASSES ? inst.inst_class : SASS_UNKNOWN];
	/* LDGDEPBAR represents the copies of its group: waiting for it is waiting for them. */
	if (inst.inst_class == SASS_DEPBAR && inst.flags & SASS_GROUP_CLOSE)
		row->inst_class = CLASS_VMEM_TO_LDS;
	return row->text && row->opcode != INTERN_NONE;
}

/* Fills in text, opcode and class of each row; existing texts are kept. */
static bool sass_write_texts(struct sass_code *c, struct incore_error *e)
{
	if (!sass_ask_nvdisasm(c, e))
		return false;
	EACH (const struct sass_function, f, c->functions.v, c->functions.n) {
		for (uint32_t i = 0; i < f->n_inst; i++)
			if (!sass_code_write_text(c, f, i))
				return err_nomem(e);
	}
	return !c->n_unsure ||
	       trace_note(c->t, "unknown-operands", NULL, INCORE_NO_OFFSET, c->n_unsure,
		       "operands of %llu instructions are not understood and shown as \"?\"; "
		       "with nvdisasm in the path its text is shown",
		       (unsigned long long)c->n_unsure) ||
	       err_nomem(e);
}

/* --- links --- */

typedef VEC(struct sass_jump) jump_list;

struct linking {
	struct sass_code *c;
	struct sass_waits waits;
	jump_list jumps;  /* targets that are not encoded in the instructions */
	code_idx *row_of; /* by instruction of all functions, numbered as in the decoder */
	VEC(struct code_link) links;
	uint64_t n_unknown; /* samples whose reason implies a producer, but none was found */
};

static bool add_link(
	struct linking *l, uint32_t inst, uint32_t to, enum code_link_kind kind, uint32_t reason)
{
	return VEC_PUSH(&l->links,
		(struct code_link){l->row_of[inst], l->row_of[to], (uint32_t)kind, reason});
}

/* Instruction at an address of any listed function, or SASS_NO_INST. */
static uint32_t sass_code_inst_at(const struct linking *l, uint64_t address)
{
	uint32_t lo = 0, hi = l->waits.n_inst;

	BISECT(lo, hi, i, l->waits.address[i] < address);
	return lo < l->waits.n_inst && l->waits.address[lo] == address ? lo : SASS_NO_INST;
}

/* Calls return and are not jumps here; BSSY names the place where lanes reconverge, which is not a
 * jump. */
static bool sass_code_add_flow(struct linking *l, uint32_t i)
{
	const struct sass_inst *x = &l->waits.inst[i];
	uint32_t to = x->branch ? sass_code_inst_at(l, l->waits.address[i] + (uint64_t)x->branch)
				: SASS_NO_INST;
	bool is_always = !(x->flags & SASS_CONDITIONAL);

	if (x->inst_class == SASS_BRANCH && to != SASS_NO_INST)
		return add_link(l, i, to, is_always ? CODE_LINK_GOTO : CODE_LINK_JUMP, NO_REASON);
	if (is_always && (x->inst_class == SASS_EXIT || x->inst_class == SASS_RETURN ||
				 x->inst_class == SASS_BRANCH))
		return add_link(l, i, i, CODE_LINK_END, NO_REASON);
	return true;
}

/* Adds jump tables; the targets of their rows are known then. */
static bool add_table_flow(struct linking *l)
{
	EACH (const struct sass_jump, j, l->jumps.v, l->jumps.n) {
		uint32_t from = sass_code_inst_at(l, j->from), to = sass_code_inst_at(l, j->to);

		if (from != SASS_NO_INST && to != SASS_NO_INST &&
			l->waits.inst[from].inst_class == SASS_BRANCH &&
			!add_link(l, from, to, CODE_LINK_GOTO, NO_REASON))
			return false;
	}
	return true;
}

/* Links a row, for each of its sampled reasons, to the instructions that may have caused it. */
static bool add_blame(struct linking *l, uint32_t i)
{
	const struct trace *t = l->c->t;
	code_idx row = l->row_of[i];
	const struct reason_count *counts = trace_reasons_of(t, row);

	for (uint32_t k = 0; k < t->n_reasons; k++) {
		enum sass_reason why =
			counts[k].all ? sass_reason_of(t->reasons[k]) : SASS_REASON_OTHER;
		struct sass_wait found[MAX_CANDIDATES];
		size_t n;

		if (why == SASS_REASON_OTHER)
			continue;
		n = sass_blame(&l->waits, i, why, found, MAX_CANDIDATES);
		l->n_unknown += n ? 0 : counts[k].all;
		for (size_t x = 0; x < n; x++)
			if (!add_link(
				    l, i, found[x].producer, (enum code_link_kind)found[x].kind, k))
				return false;
	}
	return true;
}

ORDER(by_row, struct code_link, UP(row) UP(kind) UP(reason) UP(to))

static bool commit_links(struct linking *l)
{
	struct trace *t = l->c->t;
	size_t n = 0;

	SORT(l->links.v, l->links.n, by_row);
	for (size_t i = 0; i < l->links.n; i++) {
		const struct code_link *x = &l->links.v[i], *last = n ? &l->links.v[n - 1] : NULL;
		bool is_known = last && x->kind == CODE_LINK_END && last->row == x->row &&
				last->kind == CODE_LINK_GOTO;

		/* one producer may be found on several paths */
		if (!is_known && (!last || by_row(last, x) != 0))
			l->links.v[n++] = *x;
	}
	t->code_links = arena_memdup(&t->arena, l->links.v, n * sizeof(*t->code_links));
	t->n_code_links = (uint32_t)n;
	return t->code_links || !n;
}

static bool add_jump(struct linking *l, uint64_t from, uint64_t to)
{
	return l->jumps.n >= MAX_JUMPS || VEC_PUSH(&l->jumps, (struct sass_jump){from, to});
}

/* CALL.ABS in loaded code: the address of the callee is from bit 32 on. */
static bool sass_code_add_calls(struct linking *l, const struct sass_function *f)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < f->n_inst; i++) {
		const uint8_t *p = f->code + (size_t)i * SASS_INST_BYTES;

		if ((le_bytes(p, 2) & 0xfff) == OPCODE_CALL_ABS)
			ok = add_jump(
				l, f->load + (uint64_t)i * SASS_INST_BYTES, le_bytes(p + 4, 6));
	}
	return ok;
}

/* Calls that the loader resolves: the callee is in a relocation. */
static bool add_relocated_calls(struct linking *l, const struct sass_function *f)
{
	const struct sass_code *c = l->c;
	struct cubin_targets found = {0};
	bool ok = cubin_targets_of(&c->binaries.v[f->binary].cubin, f->section, &found);

	for (size_t i = 0; ok && i < found.n; i++) {
		uint64_t at = found.v[i].at & ~(uint64_t)(SASS_INST_BYTES - 1);

		if (at >= f->size / SASS_INST_BYTES * SASS_INST_BYTES ||
			sass_decode(sm_of(c, f), f->code + at).inst_class != SASS_CALL)
			continue;
		EACH (const struct sass_function, k, c->functions.v, c->functions.n) {
			if (k->n_inst && k->binary == f->binary && k->section == found.v[i].section)
				ok = ok && add_jump(l, f->load + at, k->load + found.v[i].offset);
		}
	}
	VEC_FREE(&found);
	return ok;
}

/* For each BRX: u32 its offset, u32 0, u32 n, then n times u32 target, from the function's
 * start. */
static bool add_tables(struct linking *l, const struct sass_function *f, struct str words)
{
	const uint8_t *p = (const uint8_t *)words.p, *end = p + words.n;

	while (end - p >= 12 && l->jumps.n < MAX_JUMPS) {
		uint64_t from = le_bytes(p, 4), n = le_bytes(p + 8, 4);

		for (p += 12; n && end - p >= 4; n--, p += 4)
			if (!add_jump(l, f->load + from, f->load + le_bytes(p, 4)))
				return false;
	}
	return true;
}

/* Records of .nv.info.<function>: u8 format, u8 attribute, u16 number of bytes that follow, or a
 * value. */
static bool add_info(struct linking *l, const struct sass_function *f, const struct elf_section *s)
{
	const uint8_t *p = s->data, *end = p + s->size;
	bool ok = true;

	while (ok && end - p >= 4) {
		uint64_t n = p[0] == INFO_SIZED ? le_bytes(p + 2, 2) : 0;
		bool is_tables = p[0] == INFO_SIZED && p[1] == INFO_JUMP_TABLES;

		p += 4;
		if (n > (uint64_t)(end - p))
			break;
		ok = !is_tables || add_tables(l, f, (struct str){(const char *)p, n});
		p += n;
	}
	return ok;
}

static bool add_jumps(struct linking *l, const struct sass_function *f)
{
	const struct elf_image *x = &l->c->binaries.v[f->binary].cubin.elf;
	bool ok = sass_code_add_calls(l, f) && add_relocated_calls(l, f);

	for (uint32_t i = 0; ok && i < x->n_sections && l->jumps.n < MAX_JUMPS; i++)
		if (x->sections[i].type == TYPE_NV_INFO && x->sections[i].info == f->section &&
			x->sections[i].data)
			ok = add_info(l, f, &x->sections[i]);
	return ok;
}

/* Passes the code sorted by address, as the decoder requires. */
static bool find_waits(struct linking *l)
{
	struct sass_code *c = l->c;
	struct arena *a = c->scratch;
	struct sass_text *texts = arena_zalloc(a, c->functions.n + 1, sizeof(*texts));
	size_t n = 0, n_inst = 0;
	unsigned sm = 0;
	bool ok = true;

	l->row_of = arena_zalloc(a, c->rows.n + 1, sizeof(*l->row_of));
	if (!texts || !l->row_of)
		return false;
	EACH (const struct sass_function, f, c->functions.v, c->functions.n) {
		if (!f->n_inst)
			continue;
		texts[n++] =
			(struct sass_text){f->load, f->code, (size_t)f->n_inst * SASS_INST_BYTES};
		sm = sm_of(c, f);
		for (uint32_t i = 0; i < f->n_inst; i++)
			l->row_of[n_inst++] = f->row_of[i];
		ok = ok && add_jumps(l, f);
	}
	return ok && sass_waits_find(a, sm, texts, n, l->jumps.v, l->jumps.n, &l->waits);
}

bool sass_link_code(struct sass_code *c, struct incore_error *e)
{
	struct linking l = {.c = c};
	struct trace *t = c->t;
	bool ok = find_waits(&l);

	for (uint32_t i = 0; ok && i < l.waits.n_inst; i++)
		ok = sass_code_add_flow(&l, i) && (!t->samples || add_blame(&l, i));
	ok = ok && add_table_flow(&l) && commit_links(&l);
	VEC_FREE(&l.links);
	VEC_FREE(&l.jumps);
	if (ok && l.n_unknown)
		ok = trace_note(t, "unknown-producers", NULL, INCORE_NO_OFFSET, l.n_unknown,
			"%llu samples of waits have no instruction in the code that they can be for",
			(unsigned long long)l.n_unknown);
	return ok || err_nomem(e);
}

/* --- rows, source lines and sources ----------------------------------------------------------- */

#define MAX_FRAMES 64u /* in an inline chain */

/* --- binaries and functions --- */

bool sass_open_binary(struct sass_code *c, struct sass_binary *b, struct incore_error *e)
{
	struct incore_error why = {0};

	b->is_open = cubin_open(&b->cubin, b->bytes, c->path, c->scratch, &why);
	if (b->is_open)
		return cubin_lines_read(&b->cubin, &b->lines, c->scratch, e);
	if (err_is(&why, "no-memory")) {
		incore_error_clear(&why);
		return err_nomem(e);
	}
	if (!trace_note(c->t, "damaged-cubin", NULL, (uint64_t)(b->bytes.p - c->file.p), 1,
		    "the code of a kernel cannot be read: %s", why.message ? why.message : ""))
		err_nomem(e);
	incore_error_clear(&why);
	return true;
}

ORDER(by_load, struct sass_function, UP(load) A_TO_Z(name))

void sass_find_code(struct sass_code *c)
{
	EACH (struct sass_function, f, c->functions.v, c->functions.n) {
		const struct sass_binary *b = &c->binaries.v[f->binary];

		f->section = b->is_open ? cubin_find_code(&b->cubin, f->name) : UINT32_MAX;
		if (f->section == UINT32_MAX)
			continue;
		f->code = b->cubin.elf.sections[f->section].data;
		f->size = b->cubin.elf.sections[f->section].size;
	}
	SORT(c->functions.v, c->functions.n, by_load);
}

uint32_t sass_function_at(const struct sass_code *c, uint64_t address)
{
	size_t lo = 0, hi = c->functions.n;

	BISECT(lo, hi, i, c->functions.v[i].load <= address);
	return lo && address - c->functions.v[lo - 1].load < c->functions.v[lo - 1].size
		       ? (uint32_t)lo - 1
		       : SASS_NO_FUNCTION;
}

/* --- rows --- */

static bool sass_code_push_row(struct sass_code *c, struct code_row row)
{
	row.number = (int64_t)c->rows.n;
	return c->rows.n < UINT32_MAX - 1 && VEC_PUSH(&c->rows, row);
}

static bool sass_code_add_label(struct sass_code *c, uint32_t f, const char *name, uint64_t offset)
{
	struct arena *a = &c->t->arena;
	struct code_row row = {.is_label = true, .code_object = f, .source = ""};

	row.address = c->functions.v[f].load + offset;
	row.text = arena_printf(a, "; %s", name);
	row.opcode = intern_add(&c->opcodes, STR(";"));
	if (!row.text || row.opcode == INTERN_NONE)
		return false;
	row.text_len = (uint32_t)strlen(row.text);
	return sass_code_push_row(c, row);
}

/* Adds labels of functions that begin at an instruction inside a section; the section's own
 * function is its name. *next walks the symbols, which are sorted by place. */
static bool add_inner_labels(struct sass_code *c, uint32_t f, uint64_t offset, uint32_t *next)
{
	const struct sass_function *x = &c->functions.v[f];
	const struct cubin *b = &c->binaries.v[x->binary].cubin;

	for (; *next < b->n_symbols && b->symbols[*next].section <= x->section; ++*next) {
		const struct cubin_symbol *y = &b->symbols[*next];

		if (y->section == x->section && y->offset > offset)
			break;
		if (y->section == x->section && y->offset == offset && offset &&
			!sass_code_add_label(c, f, y->name, offset))
			return false;
	}
	return true;
}

static bool sass_code_add_function(struct sass_code *c, uint32_t f)
{
	struct sass_function *x = &c->functions.v[f];
	uint32_t n = (uint32_t)(x->size / SASS_INST_BYTES), symbol = 0;

	x->row_of = arena_zalloc(c->scratch, (size_t)n + 1, sizeof(*x->row_of));
	if (!x->row_of || !sass_code_add_label(c, f, x->name, 0))
		return false;
	x->n_inst = n;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t offset = (uint64_t)i * SASS_INST_BYTES;
		struct code_row row = {
			.address = x->load + offset, .code_object = f, .text = "", .source = ""};

		if (!add_inner_labels(c, f, offset, &symbol))
			return false;
		x->row_of[i] = (code_idx)c->rows.n;
		if (!sass_code_push_row(c, row))
			return false;
	}
	return true;
}

/* All code is in the file: a larger listing cannot be right. */
static bool is_too_much(const struct sass_code *c)
{
	uint64_t bytes = 0;

	EACH (const struct sass_function, f, c->functions.v, c->functions.n)
		bytes += f->is_used ? f->size : 0;
	return bytes / 4 > c->file.n;
}

static bool sass_code_add_functions(struct sass_code *c)
{
	for (int is_kernel = 1; is_kernel >= 0; is_kernel--)
		for (uint32_t i = 0; i < c->functions.n; i++) {
			const struct sass_function *f = &c->functions.v[i];

			if (f->is_used && f->code && f->is_kernel == is_kernel &&
				!sass_code_add_function(c, i))
				return false;
		}
	return true;
}

code_idx sass_row_at(const struct sass_code *c, uint64_t address)
{
	uint32_t f = sass_function_at(c, address);
	const struct sass_function *x = f == SASS_NO_FUNCTION ? NULL : &c->functions.v[f];
	uint64_t i = x ? (address - x->load) / SASS_INST_BYTES : 0;

	return x && i < x->n_inst ? x->row_of[i] : NO_CODE;
}

/* --- sources --- */

static bool sass_code_put_frames(struct sass_code *c, struct code_row *row,
	const struct cubin_lines *l, const struct cubin_frame *f)
{
	struct strbuf text = {0};
	uint32_t n = 0, chain;
	bool ok = true;

	row->first_frame = (uint32_t)c->frames.n;
	for (; ok && f && n < MAX_FRAMES; n++) {
		uint32_t path = intern_add(&c->paths, str_of(l->files[f->file]));

		ok = path != INTERN_NONE && VEC_PUSH(&c->frames, (struct frame){path, f->line}) &&
		     sb_printf(&text, "%s%s:%u", n ? " -> " : "", l->files[f->file], f->line);
		f = f->outer ? &l->frames[f->outer - 1] : NULL;
	}
	row->n_frames = (uint16_t)n;
	chain = ok && n ? intern_add(&c->chains, (struct str){text.p, text.n}) : INTERN_NONE;
	sb_free(&text);
	if (ok && n && chain == c->chain_texts.n) {
		const char *copy = arena_strndup(
			&c->t->arena, c->chains.strs[chain].p, c->chains.strs[chain].n);

		ok = copy && VEC_PUSH(&c->chain_texts, copy);
	}
	if (ok && n && chain != INTERN_NONE)
		row->source = c->chain_texts.v[chain];
	return ok && (!n || chain != INTERN_NONE);
}

static bool sass_code_map_sources(struct sass_code *c)
{
	for (uint32_t i = 0; i < c->functions.n; i++) {
		const struct sass_function *f = &c->functions.v[i];
		const struct cubin_lines *l = &c->binaries.v[f->binary].lines;

		for (uint32_t k = 0; k < f->n_inst; k++) {
			const struct cubin_frame *frame =
				cubin_frame_at(l, f->section, (uint64_t)k * SASS_INST_BYTES);

			if (frame && !sass_code_put_frames(c, &c->rows.v[f->row_of[k]], l, frame))
				return false;
		}
	}
	return true;
}

static bool note_lines(struct sass_code *c)
{
	EACH (const struct sass_binary, b, c->binaries.v, c->binaries.n) {
		if (b->lines.problem && !trace_note(c->t, "damaged-debug-info", NULL,
						(uint64_t)(b->bytes.p - c->file.p), 1,
						"%s: source lines are missing", b->lines.problem))
			return false;
	}
	return true;
}

/* --- into the trace --- */

static bool commit_sources(struct sass_code *c)
{
	struct trace *t = c->t;

	t->sources = arena_zalloc(&t->arena, (size_t)c->paths.n + 1, sizeof(*t->sources));
	if (!t->sources)
		return false;
	t->n_sources = c->paths.n;
	for (uint32_t i = 0; i < c->paths.n; i++) {
		struct source_file *s = &t->sources[i];

		s->path = arena_strndup(&t->arena, c->paths.strs[i].p, c->paths.strs[i].n);
		if (!s->path)
			return false;
		EACH (const struct source_copy, k, c->copies.v, c->copies.n) {
			if (s->snapshot || !k->text.n || strcmp(k->path, s->path) != 0)
				continue;
			s->snapshot = s->path;
			if (c->options->want & IMPORT_SOURCES &&
				!import_source_text(t, i, k->text.p, k->text.n))
				return false;
		}
	}
	return true;
}

static bool commit_rows(struct sass_code *c)
{
	struct trace *t = c->t;
	struct arena *a = &t->arena;

	t->code = arena_memdup(a, c->rows.v, c->rows.n * sizeof(*t->code));
	t->frames = arena_memdup(a, c->frames.v, c->frames.n * sizeof(*t->frames));
	t->opcodes = arena_zalloc(a, (size_t)c->opcodes.n + 1, sizeof(*t->opcodes));
	if ((c->rows.n && !t->code) || (c->frames.n && !t->frames) || !t->opcodes)
		return false;
	for (uint32_t i = 0; i < c->opcodes.n; i++)
		if (!(t->opcodes[i] = arena_strndup(a, c->opcodes.strs[i].p, c->opcodes.strs[i].n)))
			return false;
	t->n_code = (uint32_t)c->rows.n;
	t->n_frames = (uint32_t)c->frames.n;
	t->n_opcodes = c->opcodes.n;
	return true;
}

void sass_code_deinit(struct sass_code *c)
{
	intern_deinit(&c->opcodes);
	intern_deinit(&c->paths);
	intern_deinit(&c->chains);
	VEC_FREE(&c->binaries);
	VEC_FREE(&c->functions);
	VEC_FREE(&c->copies);
	VEC_FREE(&c->rows);
	VEC_FREE(&c->frames);
	VEC_FREE(&c->chain_texts);
}

void sass_code_init(struct sass_code *c)
{
	intern_init(&c->opcodes);
	intern_init(&c->paths);
	intern_init(&c->chains);
}

bool sass_list_code(struct sass_code *c, struct incore_error *e)
{
	if (is_too_much(c))
		return err_file(e, "damaged-code", c->path, INCORE_NO_OFFSET,
			"functions with more code than the file holds");
	if (!sass_code_add_functions(c) || !sass_code_map_sources(c) || !note_lines(c))
		return err_nomem(e);
	return sass_write_texts(c, e) && ((commit_rows(c) && commit_sources(c)) || err_nomem(e));
}
