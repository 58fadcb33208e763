/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_nvdisasm.c: the text of instructions from NVIDIA's disassembler, if it is installed. Only
 * for display: classes, waits and branches come from our own decoder. It runs under a guard with
 * limits of time and memory, and a failure costs only the operands in a listing.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "import/sass_code.h"

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
static bool take_line(struct sass_code *c, struct sass_function *f, struct str line)
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
		else if (f && !take_line(c, f, line))
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

bool sass_ask_nvdisasm(struct sass_code *c, struct incore_error *e)
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
