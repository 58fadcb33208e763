/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disasm.c: finds a disassembler that can write the instructions as text. Each source is tried in a
 * child process of its own. The child answers with its version, then one string per instruction (""
 * if refused), in batches; after a crash it is started again from where the answer ended, one
 * instruction at a time, to find the one that crashes it.
 *
 * Parts: the code object manager of ROCm; LLVM's C interface; llvm-objdump; the sources in turn.
 */
#include "isa/disasm.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/child.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/process.h"
#include "codec/varint.h"

/* --- the code object manager of ROCm ---------------------------------------------------------- */

/* Text through the code object manager of a ROCm installation. */

struct comgr_info {
	uint64_t handle;
};

struct comgr {
	struct comgr_info info;
	int (*disassemble)(struct comgr_info i, uint64_t address, void *user, uint64_t *size);
};

struct comgr_request { /* what the callbacks see */
	const struct disasm_inst *inst;
	struct strbuf *out;
};

static uint64_t disasm_read_memory(uint64_t from, char *to, uint64_t size, void *user)
{
	const struct disasm_inst *i = ((const struct comgr_request *)user)->inst;
	uint64_t at = from - i->address;

	if (from < i->address || at >= i->len_bytes)
		return 0;
	if (size > i->len_bytes - at)
		size = i->len_bytes - at;
	memcpy(to, i->bytes + at, (size_t)size);
	return size;
}

static void print_instruction(const char *text, void *user)
{
	sb_puts(((struct comgr_request *)user)->out, text);
}

static void print_address(uint64_t address, void *user)
{
	(void)address;
	(void)user;
}

static bool disasm_open_lib(
	struct comgr *d, const char *name, const char *gpu, struct strbuf *version)
{
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	int (*create)(const char *, uint64_t (*)(uint64_t, char *, uint64_t, void *),
		void (*)(const char *, void *), void (*)(uint64_t, void *), struct comgr_info *);
	void (*get_version)(size_t *, size_t *);
	size_t major = 0, minor = 0;
	char isa[64];

	if (!lib)
		return false;
	create = (int (*)(const char *, uint64_t (*)(uint64_t, char *, uint64_t, void *),
		void (*)(const char *, void *), void (*)(uint64_t, void *), struct comgr_info *))(
		uintptr_t)dlsym(lib, "amd_comgr_create_disassembly_info");
	d->disassemble = (int (*)(struct comgr_info, uint64_t, void *, uint64_t *))(uintptr_t)dlsym(
		lib, "amd_comgr_disassemble_instruction");
	get_version = (void (*)(size_t *, size_t *))(uintptr_t)dlsym(lib, "amd_comgr_get_version");
	if (!create || !d->disassemble)
		return false;
	snprintf(isa, sizeof(isa), "amdgcn-amd-amdhsa--%s", gpu);
	/* comgr checks the name against its own list and answers with a status */
	if (create(isa, disasm_read_memory, print_instruction, print_address, &d->info) != 0)
		return false;
	if (get_version)
		get_version(&major, &minor);
	return sb_printf(version, "comgr %zu.%zu", major, minor);
}

static void *comgr_open(const char *path, const char *gpu, struct strbuf *version)
{
	static const char *const libs[] = {"libamd_comgr.so.3", "/opt/rocm/lib/libamd_comgr.so.3",
		"libamd_comgr.so.2", "/opt/rocm/lib/libamd_comgr.so.2"};
	static struct comgr d; /* the child process has only one */

	if (path)
		return disasm_open_lib(&d, path, gpu, version) ? &d : NULL;
	for (size_t i = 0; i < sizeof(libs) / sizeof(*libs); i++)
		if (disasm_open_lib(&d, libs[i], gpu, version))
			return &d;
	return NULL;
}

static bool comgr_text(void *self, const struct disasm_inst *i, struct strbuf *out)
{
	struct comgr *d = self;
	struct comgr_request r = {i, out};
	uint64_t size = 0;

	return d->disassemble(d->info, i->address, &r, &size) == 0 && size == i->len_bytes;
}

static const struct disasm_ops disasm_comgr = {
	.name = "comgr",
	.open = comgr_open,
	.text = comgr_text,
};

/* --- LLVM's C interface ----------------------------------------------------------------------- */

/*
 * Text through LLVM's C interface. LLVM ends the process on an unknown target, so there is a list
 * of the targets each version knows.
 */

#define TEXT_BYTES 512

struct llvm {
	void *context;
	size_t (*disassemble)(
		void *ctx, uint8_t *bytes, uint64_t n, uint64_t pc, char *out, size_t out_n);
};

#define GFX9_TO_GFX10                                                                              \
	"gfx900 gfx902 gfx904 gfx906 gfx908 gfx909 gfx90a gfx90c gfx1010 gfx1011 gfx1012 gfx1013 " \
	"gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 "
#define GFX11_TO_GFX12 "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1200 gfx1201 "

static const struct {
	unsigned first_version; /* valid from this version, up to the next row */
	const char *gpus;
} known[] = {
	{22, GFX9_TO_GFX10 GFX11_TO_GFX12 "gfx942 gfx950 gfx1153 gfx1250 gfx1251 "},
	{20, GFX9_TO_GFX10 GFX11_TO_GFX12 "gfx942 gfx950 gfx1153 "},
	{19, GFX9_TO_GFX10 GFX11_TO_GFX12 "gfx940 gfx942 "},
};

/* May this version of LLVM be used for this GPU? */
static bool disasm_llvm_knows(unsigned version, const char *gpu)
{
	char word[32];

	snprintf(word, sizeof(word), "%s ", gpu);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (version >= known[i].first_version)
			return strstr(known[i].gpus, word) != NULL;
	return false;
}

typedef void (*init_fn)(void);

static bool init_target(void *lib)
{
	static const char *const names[] = {"LLVMInitializeAMDGPUTargetInfo",
		"LLVMInitializeAMDGPUTarget", "LLVMInitializeAMDGPUTargetMC",
		"LLVMInitializeAMDGPUDisassembler"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		init_fn init = (init_fn)(uintptr_t)dlsym(lib, names[i]);

		if (!init)
			return false;
		init();
	}
	return true;
}

static bool disasm_llvm_open_lib(
	struct llvm *d, const char *name, const char *gpu, struct strbuf *version)
{
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	void (*get_version)(unsigned *, unsigned *, unsigned *);
	void *(*create)(const char *, const char *, const char *, void *, int, void *, void *);
	unsigned v[3] = {0, 0, 0};

	if (!lib)
		return false;
	get_version = (void (*)(unsigned *, unsigned *, unsigned *))(uintptr_t)dlsym(
		lib, "LLVMGetVersion");
	create = (void *(*)(const char *, const char *, const char *, void *, int, void *, void *))(
		uintptr_t)dlsym(lib, "LLVMCreateDisasmCPUFeatures");
	d->disassemble = (size_t(*)(void *, uint8_t *, uint64_t, uint64_t, char *, size_t))(
		uintptr_t)dlsym(lib, "LLVMDisasmInstruction");
	if (!get_version || !create || !d->disassemble)
		return false;
	get_version(&v[0], &v[1], &v[2]);
	if (!disasm_llvm_knows(v[0], gpu) || !init_target(lib))
		return false;
	d->context = create("amdgcn-amd-amdhsa", gpu, "", NULL, 0, NULL, NULL);
	if (d->context)
		sb_printf(version, "LLVM %u.%u.%u", v[0], v[1], v[2]);
	return d->context != NULL;
}

static void *llvm_open(const char *path, const char *gpu, struct strbuf *version)
{
	static const char *const libs[] = {
		"libLLVM.so.22.1", "libLLVM-22.so", "libLLVM.so.19.1", "libLLVM-19.so"};
	static struct llvm d; /* the child process has only one */

	if (path)
		return disasm_llvm_open_lib(&d, path, gpu, version) ? &d : NULL;
	for (size_t i = 0; i < sizeof(libs) / sizeof(*libs); i++)
		if (disasm_llvm_open_lib(&d, libs[i], gpu, version))
			return &d;
	return NULL;
}

static bool llvm_text(void *self, const struct disasm_inst *i, struct strbuf *out)
{
	struct llvm *d = self;
	char text[TEXT_BYTES];
	size_t n = d->disassemble(d->context, (uint8_t *)(uintptr_t)i->bytes, i->len_bytes,
		i->address, text, sizeof(text));

	return n == i->len_bytes && sb_puts(out, text);
}

const struct disasm_ops disasm_llvm = {
	.name = "llvm",
	.open = llvm_open,
	.text = llvm_text,
};

/* --- llvm-objdump ----------------------------------------------------------------------------- */

/*
 * Text through llvm-objdump, for a program that loads no libraries. It gets an ELF file that holds
 * only the instructions, one after the other, on its standard input; each line of its answer states
 * the address of its instruction and the words it used.
 */

#define LIMIT_MS 60000
#define NOP 0xbf800000u /* replaces words that are not passed on; the same on all generations */
#define OSABI_HSA 64
#define ABI_VERSION 3 /* code object version 5 */

static const char NAMES[] = "\0.text\0.names";
enum { NAME_TEXT = 1, NAME_NAMES = 7 };

static bool disasm_put_code(struct strbuf *out, const struct disasm_inst *v, uint32_t n)
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
	disasm_put_code(out, v, n);
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
static bool disasm_is_word(struct str s)
{
	return s.n == 8 && strspn(s.p, "0123456789ABCDEFabcdef") >= 8;
}

static bool disasm_take_line(struct line_reader *r, struct str line)
{
	ptrdiff_t at = str_find(line, "//");
	struct str words = at < 0 ? line : str_sub(line, (size_t)at + 2, line.n), place, word;
	struct str text = at < 0 ? words : str_trim(str_sub(line, 0, (size_t)at));
	uint64_t address;
	uint32_t bytes = 0;

	if (at < 0 || !str_cut(&words, ":", &place) || words.n == 0)
		return true;
	address = strtoull(place.p, NULL, 16);
	while (str_cut(&words, " ", &word) && (word.n == 0 || disasm_is_word(word)))
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

static bool disasm_ask(const char *path, struct disasm_inst *v, uint32_t n, const char *gpu,
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
		ok = disasm_take_line(&r, line) || err_nomem(e);
	if (ok && (end.end != PROCESS_EXITED || end.code != 0)) {
		report->n_crashes = 1;
		report->gave_up = true;
	}
	sb_free(&said);
	sb_free(&elf);
	return ok;
}

/* Disassembles all instructions by a program: `path`, or the first llvm-objdump in PATH that knows
 * the GPU. Fills the report as disasm_texts() does. */
static bool disasm_program(struct disasm_inst *v, uint32_t n, const char *gpu, const char *path,
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
		ok = (report->source || err_nomem(e)) && disasm_ask(found, v, n, gpu, a, report, e);
		for (uint32_t i = 0; ok && i < n; i++) {
			report->n_rejected += !v[i].is_accepted;
			report->n_refused += v[i].is_accepted && !v[i].text;
		}
	}
	mem_free(found);
	sb_free(&version);
	return ok;
}

/* --- the sources in turn ---------------------------------------------------------------------- */

#define BATCH 256
#define LIMIT_S 60
#define MAX_CRASHES 16u
#define MAX_ANSWER_BYTES ((size_t)512 << 20)
#define MAX_TEXT 4096

struct disasm_job {
	struct disasm_inst *v;
	uint32_t n, from; /* instructions before `from` are done */
	uint32_t batch;
	const char *gpu, *path;
	const struct disasm_ops *ops;
	struct arena *arena;
	struct disasm_report *report;
};

/* Are the words safe to pass on? They must be known to our table and not of a form known to crash
 * LLVM 22. */
static bool is_accepted(enum amd_arch arch, const struct disasm_inst *i)
{
	struct amd_code_inst inst;
	unsigned top;

	if (!amd_code_decode(arch, i->bytes, i->len_bytes, &inst) ||
		inst.inst_class == AMD_CODE_UNKNOWN || inst.len_bytes != i->len_bytes)
		return false;
	top = i->bytes[3] >> 2;
	/* gfx9 MUBUF and MTBUF whose soffset byte means a literal, which they cannot have */
	return !(arch == AMD_ARCH_GFX9 && (top == 0x38 || top == 0x3a) && i->bytes[7] == 0xff);
}

static bool disasm_work(void *ctx, int fd)
{
	struct disasm_job *j = ctx;
	struct strbuf out = {0}, text = {0};
	void *d = j->ops->open(j->path, j->gpu, &text);
	uint32_t in_batch = 0;

	if (!d)
		return false;
	bytes_put_str(&out, (struct str){text.p, text.n});
	if (out.failed || !write_all(fd, out.p, out.n, NULL))
		return false;
	sb_reset(&out);
	for (uint32_t i = j->from; i < j->n; i++) {
		sb_reset(&text);
		if (!j->v[i].is_accepted || !j->ops->text(d, &j->v[i], &text) || text.n > MAX_TEXT)
			sb_reset(&text);
		bytes_put_str(&out, (struct str){text.p, text.n});
		if (++in_batch < j->batch && i + 1 < j->n)
			continue;
		if (out.failed || !write_all(fd, out.p, out.n, NULL))
			return false;
		sb_reset(&out);
		in_batch = 0;
	}
	return write_all(fd, out.p, out.n, NULL); /* the process ends: nothing is freed */
}

/* " s_nop 0 // comment" -> "s_nop 0" */
static struct str clean(struct str s)
{
	ptrdiff_t at = str_find(s, "//");

	if (at >= 0)
		s = str_sub(s, 0, (size_t)at);
	at = str_find(s, ";");
	if (at >= 0)
		s = str_sub(s, 0, (size_t)at);
	return str_trim(s);
}

/* Takes the complete answers; *is_open: the library could be loaded. */
static bool disasm_take_answer(struct disasm_job *j, const struct strbuf *b, bool *is_open)
{
	struct bytes_reader r = {(const uint8_t *)b->p, (const uint8_t *)b->p + b->n, false};
	struct str version = b->n ? bytes_str(&r) : (struct str){NULL, 0};

	*is_open = b->n && !r.is_failed;
	if (!*is_open)
		return true;
	if (!j->report->source)
		j->report->source = arena_strndup(j->arena, version.p, version.n);
	if (!j->report->source)
		return false;
	for (; j->from < j->n && r.p < r.end; j->from++) {
		struct disasm_inst *i = &j->v[j->from];
		struct str text = clean(bytes_str(&r));

		if (r.is_failed)
			break;
		if (text.n) {
			i->text = arena_strndup(j->arena, text.p, text.n);
			if (!i->text)
				return false;
			j->report->n_texts++;
		} else if (i->is_accepted) {
			j->report->n_refused++;
		} else {
			j->report->n_rejected++;
		}
	}
	return true;
}

static bool disasm_run_once(
	struct disasm_job *j, enum child_end *end, bool *is_open, struct incore_error *e)
{
	struct child_job c = {disasm_work, j, LIMIT_S, MAX_ANSWER_BYTES};
	struct strbuf answer = {0};
	bool ok = child_run(&c, &answer, end, e);

	if (ok && !disasm_take_answer(j, &answer, is_open))
		ok = err_nomem(e);
	sb_free(&answer);
	return ok;
}

/* Disassembles all instructions by one source. *is_open: it is available and answers. */
static bool run_source(struct disasm_job *j, bool *is_open, struct incore_error *e)
{
	enum child_end end = CHILD_DONE;

	j->batch = BATCH;
	if (!disasm_run_once(j, &end, is_open, e))
		return false;
	while (*is_open && end != CHILD_DONE && j->from < j->n) {
		uint32_t before = j->from;

		if (j->batch == 1 || end == CHILD_TOO_LONG) {
			j->report->n_crashes++;
			j->from++;
		}
		if (j->report->n_crashes >= MAX_CRASHES || end == CHILD_TOO_LONG) {
			j->report->gave_up = true;
			return true;
		}
		/* one by one up to the crash, then in batches again */
		j->batch = j->batch == 1 ? BATCH : 1;
		if (!disasm_run_once(j, &end, is_open, e))
			return false;
		*is_open = *is_open || j->from > before;
	}
	return true;
}

/* defined in packaging/static/no_loader.c, if that is linked */
extern const char incore_loads_nothing[] __attribute__((weak));

bool disasm_loads_libraries(void)
{
	return incore_loads_nothing == NULL;
}

bool disasm_texts(struct disasm_inst *v, uint32_t n, const char *gpu, const char *which,
	struct arena *a, struct disasm_report *report, struct incore_error *e)
{
	static const struct disasm_ops *const sources[] = {&disasm_comgr, &disasm_llvm};
	struct disasm_job j = {.v = v, .n = n, .gpu = gpu, .arena = a, .report = report};
	bool is_auto = !which || !*which || strcmp(which, "auto") == 0;
	bool is_path = which && strchr(which, '/');
	enum amd_arch arch = gpu ? amd_arch_of_gpu(gpu) : AMD_ARCH_UNKNOWN;

	*report = (struct disasm_report){0};
	if (!n || arch == AMD_ARCH_UNKNOWN || (which && strcmp(which, "none") == 0))
		return true;
	for (uint32_t i = 0; i < n; i++)
		v[i].is_accepted = is_accepted(arch, &v[i]);
	j.path = is_path ? which : NULL;
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources) && !report->source; i++) {
		bool is_open = false;

		if (!is_auto && !is_path && strcmp(which, sources[i]->name) != 0)
			continue;
		j.ops = sources[i];
		if (!run_source(&j, &is_open, e))
			return false;
	}
	if (!report->source && ((is_auto && !disasm_loads_libraries()) || is_path ||
				       (which && strcmp(which, "objdump") == 0)))
		return disasm_program(v, n, gpu, j.path, a, report, e);
	return true;
}
