/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.c: finds the kernels with samples in a log. A sample names the function it was taken in.
 * A function that kernels call is not a kernel: its samples go to the kernel that called it, if
 * there is only one candidate; otherwise the caller is unknown and the function is listed
 * separately.
 */
#include "base/search.h"
#include "codec/cubin.h"
#include "import/cuda/log.h"

struct finding {
	struct cuda_log *l;
	struct cuda_reason_list reasons;
	struct u64_map seen; /* hash of (device, crc, name) -> index + 1 */
};

static uint64_t samples_at(const struct finding *f, const struct cuda_sampled_pc *x)
{
	uint64_t all = 0;
	uint32_t n;

	for (uint32_t i = 0; i < x->pc.n_stalls; i++) {
		const struct cuda_reason_kind *k = cuda_count_of(&f->reasons, x, i, &n);

		all += k && !k->is_not_issued ? n : 0;
	}
	return all;
}

static uint64_t key_of(uint32_t device, uint64_t crc, uint64_t name)
{
	uint64_t h = (crc ^ name * UINT64_C(0x9e3779b97f4a7c15)) + device;

	return (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

static bool count_pc(void *ctx, const struct cuda_sampled_pc *x)
{
	struct finding *f = ctx;
	struct cuda_log *l = f->l;
	uint64_t *at = u64_map_at(&f->seen, key_of(x->device, x->pc.cubin_crc, x->pc.function));

	if (!at)
		return false;
	if (!*at) {
		struct cuda_kernel k = {
			.device = x->device, .cubin_crc = x->pc.cubin_crc, .name = x->pc.function};

		if (!VEC_PUSH(&l->kernels, k))
			return false;
		*at = l->kernels.n;
	}
	l->kernels.v[*at - 1].n_samples += samples_at(f, x);
	return true;
}

/* --- call graph --- */

struct calls {
	struct arena arena;
	struct cubin cubin;
	uint8_t *is_reached; /* by section */
};

/* Marks the sections reachable from one, itself included, by the relocations of calls. */
static bool reach(struct calls *c, uint32_t from)
{
	uint32_t n = c->cubin.elf.n_sections, n_todo = 0;
	uint32_t *todo = arena_zalloc(&c->arena, (size_t)n + 1, sizeof(*todo));
	bool ok = todo != NULL;

	memset(c->is_reached, 0, n);
	if (ok) {
		todo[n_todo++] = from;
		c->is_reached[from] = 1;
	}
	while (ok && n_todo) {
		struct cubin_targets t = {0};

		ok = cubin_targets_of(&c->cubin, todo[--n_todo], &t);
		for (size_t i = 0; ok && i < t.n; i++)
			if (t.v[i].section < n && !c->is_reached[t.v[i].section]) {
				c->is_reached[t.v[i].section] = 1;
				todo[n_todo++] = t.v[i].section;
			}
		VEC_FREE(&t);
	}
	return ok;
}

static char *name_of(struct calls *c, const struct cuda_log *l, uint64_t name)
{
	struct str s = cuda_log_text(l, name);

	return arena_strndup(&c->arena, s.p, s.n);
}

/* A kernel was launched, or has its own constants, which only kernels have. */
static bool is_kernel(struct calls *c, const struct cuda_log *l, uint64_t id, const char *name)
{
	char *bank = arena_printf(&c->arena, ".nv.constant0.%s", name);

	EACH (const struct cuda_log_launch, x, l->launches.v, l->launches.n) {
		if (x->launch.name == id)
			return true;
	}
	return bank && elf_section_named(&c->cubin.elf, bank);
}

/* Finds which kernels of a binary call its other functions. */
static bool find_owners(struct calls *c, struct cuda_log *l, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const char *name = name_of(c, l, l->kernels.v[i].name);

		l->kernels.v[i].is_called = name && !is_kernel(c, l, l->kernels.v[i].name, name);
	}
	for (size_t i = from; i < to; i++) {
		const char *name = name_of(c, l, l->kernels.v[i].name);
		uint32_t section = name ? cubin_find_code(&c->cubin, name) : UINT32_MAX;

		if (l->kernels.v[i].is_called || section == UINT32_MAX)
			continue;
		if (!reach(c, section))
			return false;
		for (size_t k = from; k < to; k++) {
			struct cuda_kernel *f = &l->kernels.v[k];
			const char *callee = name_of(c, l, f->name);

			section = callee ? cubin_find_code(&c->cubin, callee) : UINT32_MAX;
			if (f->is_called && section != UINT32_MAX && c->is_reached[section])
				f->owner = f->owner ? UINT64_MAX : l->kernels.v[i].name;
		}
	}
	for (size_t k = from; k < to; k++)
		if (l->kernels.v[k].owner == UINT64_MAX)
			l->kernels.v[k].owner = 0;
	return true;
}

static bool open_and_find(struct cuda_log *l, size_t from, size_t to)
{
	struct str bytes = cuda_log_cubin(l, l->kernels.v[from].cubin_crc);
	struct incore_error why = {0};
	struct calls c = {0};
	bool ok = true;

	arena_init(&c.arena);
	if (bytes.n && cubin_open(&c.cubin, bytes, l->path, &c.arena, &why)) {
		c.is_reached = arena_zalloc(&c.arena, (size_t)c.cubin.elf.n_sections + 1, 1);
		ok = c.is_reached && find_owners(&c, l, from, to);
	}
	ok = ok && !err_is(&why, "no-memory");
	incore_error_clear(&why);
	arena_deinit(&c.arena);
	return ok;
}

ORDER(by_binary, struct cuda_kernel, UP(device) UP(cubin_crc) UP(name))
ORDER(by_samples, struct cuda_kernel, UP(owner) DOWN(n_samples) THEN(by_binary))

bool cuda_find_kernels(struct cuda_log *l, struct incore_error *e)
{
	struct finding f = {.l = l};
	bool ok = cuda_reasons_read(&f.reasons, l) && cuda_log_each_pc(l, count_pc, &f);
	size_t from = 0;

	cuda_reasons_deinit(&f.reasons);
	u64_map_deinit(&f.seen);
	SORT(l->kernels.v, l->kernels.n, by_binary);
	for (size_t i = 1; ok && i <= l->kernels.n; i++) {
		const struct cuda_kernel *v = l->kernels.v;

		if (i < l->kernels.n && v[i].device == v[from].device &&
			v[i].cubin_crc == v[from].cubin_crc)
			continue;
		/* a single kernel calls no other sampled function */
		ok = i - from < 2 || open_and_find(l, from, i);
		from = i;
	}
	SORT(l->kernels.v, l->kernels.n, by_samples);
	while (l->n_captures < l->kernels.n && !l->kernels.v[l->n_captures].owner)
		l->n_captures++;
	return ok || err_nomem(e);
}
