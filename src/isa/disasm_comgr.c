/* SPDX-License-Identifier: Apache-2.0 */
/* disasm_comgr.c: text through the code object manager of a ROCm installation. */
#include <dlfcn.h>
#include <stdio.h>

#include "isa/disasm.h"

struct info {
	uint64_t handle;
};

struct comgr {
	struct info info;
	int (*disassemble)(struct info i, uint64_t address, void *user, uint64_t *size);
};

struct request { /* what the callbacks see */
	const struct disasm_inst *inst;
	struct strbuf *out;
};

static uint64_t read_memory(uint64_t from, char *to, uint64_t size, void *user)
{
	const struct disasm_inst *i = ((const struct request *)user)->inst;
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
	sb_puts(((struct request *)user)->out, text);
}

static void print_address(uint64_t address, void *user)
{
	(void)address;
	(void)user;
}

static bool open_lib(struct comgr *d, const char *name, const char *gpu, struct strbuf *version)
{
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	int (*create)(const char *, uint64_t (*)(uint64_t, char *, uint64_t, void *),
		void (*)(const char *, void *), void (*)(uint64_t, void *), struct info *);
	void (*get_version)(size_t *, size_t *);
	size_t major = 0, minor = 0;
	char isa[64];

	if (!lib)
		return false;
	create = (int (*)(const char *, uint64_t (*)(uint64_t, char *, uint64_t, void *),
		void (*)(const char *, void *), void (*)(uint64_t, void *), struct info *))(
		uintptr_t)dlsym(lib, "amd_comgr_create_disassembly_info");
	d->disassemble = (int (*)(struct info, uint64_t, void *, uint64_t *))(uintptr_t)dlsym(
		lib, "amd_comgr_disassemble_instruction");
	get_version = (void (*)(size_t *, size_t *))(uintptr_t)dlsym(lib, "amd_comgr_get_version");
	if (!create || !d->disassemble)
		return false;
	snprintf(isa, sizeof(isa), "amdgcn-amd-amdhsa--%s", gpu);
	/* comgr checks the name against its own list and answers with a status */
	if (create(isa, read_memory, print_instruction, print_address, &d->info) != 0)
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
		return open_lib(&d, path, gpu, version) ? &d : NULL;
	for (size_t i = 0; i < sizeof(libs) / sizeof(*libs); i++)
		if (open_lib(&d, libs[i], gpu, version))
			return &d;
	return NULL;
}

static bool comgr_text(void *self, const struct disasm_inst *i, struct strbuf *out)
{
	struct comgr *d = self;
	struct request r = {i, out};
	uint64_t size = 0;

	return d->disassemble(d->info, i->address, &r, &size) == 0 && size == i->len_bytes;
}

const struct disasm_ops disasm_comgr = {
	.name = "comgr",
	.open = comgr_open,
	.text = comgr_text,
};
