/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disasm_llvm.c: text through LLVM's C interface. LLVM ends the process on an unknown target, so
 * there is a list of the targets each version knows.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "isa/disasm.h"

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

bool disasm_llvm_knows(unsigned version, const char *gpu)
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

static bool open_lib(struct llvm *d, const char *name, const char *gpu, struct strbuf *version)
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
		return open_lib(&d, path, gpu, version) ? &d : NULL;
	for (size_t i = 0; i < sizeof(libs) / sizeof(*libs); i++)
		if (open_lib(&d, libs[i], gpu, version))
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
