/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disasm_program.c: text through llvm-objdump, for a program that loads no libraries. It gets an
 * ELF file that holds only the instructions, one after the other, on its standard input; each line
 * of its answer states the address of its instruction and the words it used.
 */
#include <elf.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/process.h"
#include "isa/disasm.h"

#define LIMIT_MS 60000
#define NOP 0xbf800000u /* replaces words that are not passed on; the same on all generations */
#define OSABI_HSA 64
#define ABI_VERSION 3 /* code object version 5 */

static const char NAMES[] = "\0.text\0.names";
enum { NAME_TEXT = 1, NAME_NAMES = 7 };

static bool put_code(struct strbuf *out, const struct disasm_inst *v, uint32_t n)
{
	static const uint32_t nop = NOP;

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t at = 0; at < v[i].len_bytes; at += 4)
			sb_add(out,
				v[i].is_accepted ? (const char *)v[i].bytes + at
						 : (const char *)&nop,
				4);
	}
	return !out->failed;
}

/* Writes header, code, section names and sections. */
static bool put_elf(struct strbuf *out, const struct disasm_inst *v, uint32_t n)
{
	Elf64_Ehdr h = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				EV_CURRENT, OSABI_HSA, ABI_VERSION},
		.e_type = ET_REL,
		.e_machine = EM_AMDGPU,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(h),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2};
	Elf64_Shdr sections[3] = {{0}};

	sb_add(out, (const char *)&h, sizeof(h));
	put_code(out, v, n);
	sections[1] = (Elf64_Shdr){.sh_name = NAME_TEXT,
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_offset = sizeof(h),
		.sh_size = out->n - sizeof(h),
		.sh_addralign = 4};
	sections[2] = (Elf64_Shdr){.sh_name = NAME_NAMES,
		.sh_type = SHT_STRTAB,
		.sh_offset = out->n,
		.sh_size = sizeof(NAMES),
		.sh_addralign = 1};
	sb_add(out, NAMES, sizeof(NAMES));
	h.e_shoff = out->n;
	sb_add(out, (const char *)sections, sizeof(sections));
	if (out->failed)
		return false;
	memcpy(out->p, &h, sizeof(h));
	return true;
}

/* Reads the program's version; false if it is missing or must not be used for this GPU. */
static bool is_usable(const char *path, const char *gpu, struct strbuf *version)
{
	const char *const argv[] = {path, "--version", NULL};
	struct strbuf said = {0};
	struct process_spec spec = {.argv = argv, .output = &said, .limit_ms = LIMIT_MS};
	struct process_result end;
	struct str text;
	ptrdiff_t at;
	bool ok = process_run(&spec, &end, NULL) && end.end == PROCESS_EXITED && end.code == 0;

	text = (struct str){said.p, said.n};
	at = ok ? str_find(text, "LLVM version ") : -1;
	if (at >= 0) {
		text = str_sub(text, (size_t)at + strlen("LLVM version "), text.n);
		ok = disasm_llvm_knows((unsigned)strtoul(text.p, NULL, 10), gpu);
		text.n = strspn(text.p, "0123456789.");
		sb_printf(version, "llvm-objdump %.*s", STR_ARG(text));
	}
	sb_free(&said);
	return ok && at >= 0;
}

/* "  s_nop 0   // 000000000000: BF800000": which instruction is that? */
struct line_reader {
	struct disasm_inst *v;
	uint32_t n, next;
	uint64_t next_address;
	struct arena *arena;
	struct disasm_report *report;
};

/* "BF800000"; anything else there is a branch target */
static bool is_word(struct str s)
{
	return s.n == 8 && strspn(s.p, "0123456789ABCDEFabcdef") >= 8;
}

static bool take_line(struct line_reader *r, struct str line)
{
	ptrdiff_t at = str_find(line, "//");
	struct str words = at < 0 ? line : str_sub(line, (size_t)at + 2, line.n), place, word;
	struct str text = at < 0 ? words : str_trim(str_sub(line, 0, (size_t)at));
	uint64_t address;
	uint32_t bytes = 0;

	if (at < 0 || !str_cut(&words, ":", &place) || words.n == 0)
		return true;
	address = strtoull(place.p, NULL, 16);
	while (str_cut(&words, " ", &word) && (word.n == 0 || is_word(word)))
		bytes += word.n ? 4 : 0;
	while (r->next < r->n && r->next_address < address)
		r->next_address += r->v[r->next++].len_bytes;
	if (r->next == r->n || r->next_address != address || !r->v[r->next].is_accepted ||
		bytes != r->v[r->next].len_bytes || str_starts(text, ".") || text.n == 0)
		return true;
	r->v[r->next].text = arena_strndup(r->arena, text.p, text.n);
	r->report->n_texts++;
	return r->v[r->next].text != NULL;
}

static bool ask(const char *path, struct disasm_inst *v, uint32_t n, const char *gpu,
	struct arena *a, struct disasm_report *report, struct incore_error *e)
{
	const char *const argv[] = {path, "-d", "--triple=amdgcn-amd-amdhsa",
		arena_printf(a, "--mcpu=%s", gpu), "-", NULL};
	struct strbuf elf = {0}, said = {0};
	struct process_spec spec = {.argv = argv,
		.output = &said,
		.limit_ms = LIMIT_MS,
		.max_output_bytes = (size_t)512 << 20};
	struct process_result end;
	struct line_reader r = {v, n, 0, 0, a, report};
	struct str rest, line;
	bool ok = (argv[3] && put_elf(&elf, v, n)) || err_nomem(e);

	spec.input = (struct str){elf.p, elf.n};
	ok = ok && process_run(&spec, &end, e);
	rest = (struct str){said.p, said.n};
	while (ok && str_cut(&rest, "\n", &line))
		ok = take_line(&r, line) || err_nomem(e);
	if (ok && (end.end != PROCESS_EXITED || end.code != 0)) {
		report->n_crashes = 1;
		report->gave_up = true;
	}
	sb_free(&said);
	sb_free(&elf);
	return ok;
}

bool disasm_program(struct disasm_inst *v, uint32_t n, const char *gpu, const char *path,
	struct arena *a, struct disasm_report *report, struct incore_error *e)
{
	static const char *const usual[] = {"llvm-objdump-22", "llvm-objdump-21", "llvm-objdump-20",
		"llvm-objdump-19", "/opt/rocm/llvm/bin/llvm-objdump", "llvm-objdump"};
	struct strbuf version = {0};
	char *found = NULL;
	bool ok = true;

	if (path && is_usable(path, gpu, &version))
		found = mem_strndup(path, strlen(path));
	for (size_t i = 0; !path && !found && i < sizeof(usual) / sizeof(*usual); i++) {
		found = process_find(usual[i]);
		sb_reset(&version);
		if (found && !is_usable(found, gpu, &version)) {
			mem_free(found);
			found = NULL;
		}
	}
	if (found) {
		report->source = arena_strndup(a, version.p, version.n);
		ok = (report->source || err_nomem(e)) && ask(found, v, n, gpu, a, report, e);
		for (uint32_t i = 0; ok && i < n; i++) {
			report->n_rejected += !v[i].is_accepted;
			report->n_refused += v[i].is_accepted && !v[i].text;
		}
	}
	mem_free(found);
	sb_free(&version);
	return ok;
}
