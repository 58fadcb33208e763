/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast are thread traces decoded? The largest stream of each run given is repeated to --mb and
 * decoded, records discarded; CPU time, the median of --rounds. --dense 1: only the stretch in which
 * waves run is repeated, behind what comes before it once. --threads N: N copies at once, by wall
 * time and, for a machine that has other work, by the CPU time they take.
 * --against LIB.so: the same bytes through a librocprof-trace-decoder of the user's own, in turns
 * with ours and as often.
 * usage: sqtt [--against LIB.so] [--dense 1] [--mb N] [--rounds N] [--threads N] RUN_DIR...
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "codec/elf.h"
#include "codec/json_reader.h"
#include "import/sqtt/decoder.h"

#define MAX_SEGMENTS 64u
#define MAX_THREADS 64u
#define MAX_ROUNDS 99u

struct run {
	struct arena arena;
	struct file_data elf, meta;
	struct sqtt_segment segments[MAX_SEGMENTS];
	struct sqtt_code code;
	uint8_t *stream;
	size_t size;
	char name[64];
};

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *what, const struct incore_error *e)
{
	fprintf(stderr, "sqtt: %s: %s\n", what, e && e->message ? e->message : "failed");
	exit(1);
}

/* --- input */

static uint64_t load_base(struct run *r, const char *dir, struct incore_error *e)
{
	char *path = path_join(dir, "meta.json");
	struct json_reader j;
	uint64_t base = 0;
	struct str key;

	if (!file_load(&r->meta, path, e))
		fail(path, e);
	json_init(&j, r->meta.data, r->meta.size, path, 0);
	for (json_enter_object(&j); json_next_key(&j, &key);)
		if (str_is(key, "load_base"))
			json_get_u64(&j, &base);
		else
			json_skip(&j);
	json_deinit(&j);
	mem_free(path);
	return base;
}

static void load_code(struct run *r, const char *dir, struct incore_error *e)
{
	uint64_t base = load_base(r, dir, e);
	char *path = path_join(dir, "code.elf");
	struct elf_image x;

	if (!file_load(&r->elf, path, e) ||
		!elf_open(&x, (struct str){(const char *)r->elf.data, r->elf.size}, path, &r->arena,
			e))
		fail(path, e);
	for (uint32_t i = 0; i < x.n_sections && r->code.n_segments < MAX_SEGMENTS; i++) {
		const struct elf_section *s = &x.sections[i];

		if (s->data && s->type == 1 && (s->flags & 4))
			r->segments[r->code.n_segments++] = (struct sqtt_segment){
				0, s->address, base + s->address, s->data, (size_t)s->size};
	}
	r->code.segments = r->segments;
	mem_free(path);
}

struct largest {
	const char *dir;
	char *path;
	int64_t size;
};

static bool visit(void *ctx, const char *name, struct incore_error *e)
{
	struct largest *l = ctx;
	size_t n = strlen(name);
	char *path;
	int64_t size;

	(void)e;
	if (n < 5 || strcmp(name + n - 5, ".sqtt") != 0)
		return true;
	path = path_join(l->dir, name);
	size = file_size(path);
	if (size > l->size) {
		mem_free(l->path);
		l->path = path;
		l->size = size;
	} else {
		mem_free(path);
	}
	return true;
}

struct stretch {
	size_t from, to; /* bytes */
};

static bool widen(void *ctx, const struct sqtt_wave *w, struct incore_error *e)
{
	struct stretch *s = ctx;
	const size_t end_bytes = 3; /* of the token that ends a wave, with its padding */

	(void)e;
	if (w->is_incomplete || !w->n_insts)
		return true;
	s->from = w->off < s->from ? w->off : s->from;
	s->to = w->end_off + end_bytes > s->to ? w->end_off + end_bytes : s->to;
	return true;
}

/* What of a stream is repeated: gfx9 has a software header, which is there once, later streams
 * repeat whole; of a dense one the waves alone. */
static struct stretch stretch_of(const struct run *r, const struct file_data *f, bool is_dense)
{
	const struct sqtt_options o = {SQTT_RULES_RIGHT, &r->code, SQTT_TARGET_OF_STREAM};
	struct stretch s = {SIZE_MAX, 0};
	const struct sqtt_sink sink = {.ctx = &s, .wave = widen};
	struct sqtt_result res;
	struct incore_error e = {0};

	if (!sqtt_decode(f->data, f->size, &o, &sink, &res, &e))
		fail(r->name, &e);
	if (!is_dense || s.to <= s.from || s.to > f->size)
		s = (struct stretch){res.gfx_major == 9 ? 8 : 0, f->size};
	return s;
}

static void repeat(struct run *r, const struct file_data *f, size_t bytes, bool is_dense)
{
	struct stretch s = stretch_of(r, f, is_dense);

	r->stream = mem_alloc(bytes + 2 * f->size);
	if (!r->stream)
		fail("memory", NULL);
	memcpy(r->stream, f->data, s.to);
	for (r->size = s.to; r->size < bytes; r->size += s.to - s.from)
		memcpy(r->stream + r->size, f->data + s.from, s.to - s.from);
}

static void load_run(struct run *r, const char *dir, size_t bytes, bool is_dense)
{
	struct incore_error e = {0};
	struct largest l = {dir, NULL, 0};
	struct file_data f = {0};

	memset(r, 0, sizeof(*r));
	arena_init(&r->arena);
	load_code(r, dir, &e);
	if (!dir_each(dir, visit, &l, &e) || !l.path || !file_load(&f, l.path, &e))
		fail(dir, &e);
	snprintf(r->name, sizeof(r->name), "%s", path_base(dir));
	repeat(r, &f, bytes, is_dense);
	file_unload(&f);
	mem_free(l.path);
}

static void unload_run(struct run *r)
{
	mem_free(r->stream);
	file_unload(&r->elf);
	file_unload(&r->meta);
	arena_deinit(&r->arena);
}

/* --- ours */

static void decode(const struct run *r, struct sqtt_result *out)
{
	const struct sqtt_options o = {SQTT_RULES_RIGHT, &r->code, SQTT_TARGET_OF_STREAM};
	const struct sqtt_sink sink = {0};
	struct incore_error e = {0};

	if (!sqtt_decode(r->stream, r->size, &o, &sink, out, &e))
		fail(r->name, &e);
}

static void *decode_thread(void *ctx)
{
	struct sqtt_result res;

	decode(ctx, &res);
	return NULL;
}

static int compare_seconds(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static double median(double *v, unsigned n)
{
	qsort(v, n, sizeof(*v), compare_seconds);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

struct cost {
	double wall, cpu;
};

static struct cost cost_of(struct run *r, unsigned threads)
{
	pthread_t id[MAX_THREADS];
	double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);

	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&id[i], NULL, decode_thread, r))
			fail("thread", NULL);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
	return (struct cost){
		seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu};
}

static struct cost median_cost(struct run *r, unsigned threads, unsigned rounds)
{
	double wall[MAX_ROUNDS], cpu[MAX_ROUNDS];

	for (unsigned i = 0; i < rounds; i++) {
		struct cost c = cost_of(r, threads);

		wall[i] = c.wall;
		cpu[i] = c.cpu;
	}
	return (struct cost){median(wall, rounds), median(cpu, rounds)};
}

/* --- theirs: facts of its public header */

struct their_pc {
	uint64_t address, object;
};
typedef uint64_t (*se_fn)(uint8_t **buffer, uint64_t *size, void *user);
typedef int (*trace_fn)(int kind, void *records, uint64_t n, void *user);
typedef int (*isa_fn)(
	char *text, uint64_t *memory_size, uint64_t *size, struct their_pc pc, void *user);
typedef int (*parse_fn)(se_fn se, trace_fn trace, isa_fn isa, void *user);

struct their_run {
	const struct run *r;
	enum amd_arch arch;
	bool is_given;
};

static uint64_t their_se(uint8_t **buffer, uint64_t *size, void *user)
{
	struct their_run *t = user;

	if (t->is_given)
		return 0;
	t->is_given = true;
	*buffer = t->r->stream;
	*size = t->r->size;
	return t->r->size;
}

static int their_trace(int kind, void *records, uint64_t n, void *user)
{
	(void)kind, (void)records, (void)n, (void)user;
	return 0;
}

/* It looks at the mnemonic alone, so one of each class does. */
static const char *mnemonic(const struct amd_code_inst *in)
{
	if (in->flags & AMD_CODE_WAIT)
		return "s_waitcnt vmcnt(0)";
	if (in->flags & AMD_CODE_BARWAIT)
		return "s_barrier_wait -1";
	switch (in->inst_class) {
	case AMD_CODE_SMEM:
		return "s_load_dword s0, s[2:3], 0x0";
	case AMD_CODE_SALU:
		return "s_add_u32 s0, s0, s1";
	case AMD_CODE_VMEM:
		return in->flags & AMD_CODE_LOAD ? "global_load_dword v0, v[2:3], off"
						 : "global_store_dword v[2:3], v0, off";
	case AMD_CODE_FLAT:
		return "flat_load_dword v0, v[2:3]";
	case AMD_CODE_LDS:
		return "ds_read_b32 v0, v1";
	case AMD_CODE_VALU:
	case AMD_CODE_MFMA_SCALE:
		return "v_add_f32 v0, v0, v1";
	case AMD_CODE_SKIP:
		return "s_delay_alu instid0(VALU_DEP_1)";
	case AMD_CODE_BARRIER:
		return "s_barrier";
	default:
		return in->flags & AMD_CODE_END ? "s_endpgm" : "s_nop 0";
	}
}

static int their_isa(
	char *text, uint64_t *memory_size, uint64_t *size, struct their_pc pc, void *user)
{
	const struct their_run *t = user;

	for (size_t i = 0; i < t->r->code.n_segments; i++) {
		const struct sqtt_segment *s = &t->r->segments[i];
		uint64_t off = pc.address - s->load_addr;
		struct amd_code_inst in;
		int n;

		if (pc.address < s->load_addr || off >= s->size)
			continue;
		if (!amd_code_decode(t->arch, s->bytes + off, s->size - off, &in))
			return 3;
		*memory_size = in.flags & AMD_CODE_END ? 0 : in.len_bytes;
		if (in.inst_class == AMD_CODE_BRANCH)
			n = snprintf(text, *size, "s_cbranch_scc1 %d",
				(int)(uint16_t)((in.branch - 4) / 4));
		else
			n = snprintf(text, *size, "%s", mnemonic(&in));
		*size = (uint64_t)n;
		return 0;
	}
	return 3;
}

static double their_seconds(const struct run *r, const char *lib)
{
	static parse_fn parse;
	struct their_run t = {.r = r};
	struct sqtt_stream s;
	double start;
	void *h;

	if (!parse) {
		if (!(h = dlopen(lib, RTLD_NOW | RTLD_LOCAL))) {
			fprintf(stderr, "sqtt: %s\n", dlerror());
			exit(1);
		}
		*(void **)&parse = dlsym(h, "rocprof_trace_decoder_parse_data");
		if (!parse)
			fail(lib, NULL);
	}
	sqtt_recognise(r->stream, r->size, &s, NULL);
	t.arch = s.gfx_major == 9    ? AMD_ARCH_GFX9
		 : s.gfx_major == 10 ? AMD_ARCH_GFX10
		 : s.gfx_major == 11 ? AMD_ARCH_GFX11
				     : AMD_ARCH_GFX12;
	start = seconds(CLOCK_PROCESS_CPUTIME_ID);
	if (parse(their_se, their_trace, their_isa, &t) != 0)
		fprintf(stderr, "sqtt: %s: the library reports an error\n", r->name);
	return seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
}

/* --- report */

static void measure(struct run *r, unsigned rounds, unsigned threads, const char *against)
{
	struct sqtt_result res;
	double ours[MAX_ROUNDS], theirs[MAX_ROUNDS], mb = (double)r->size / 1e6, mine;

	for (unsigned i = 0; i < rounds; i++) {
		double t = seconds(CLOCK_PROCESS_CPUTIME_ID);

		decode(r, &res);
		ours[i] = seconds(CLOCK_PROCESS_CPUTIME_ID) - t;
		if (against)
			theirs[i] = their_seconds(r, against);
	}
	mine = median(ours, rounds);
	printf("%-20s gfx%u %7.1f MB  %6.3f s CPU  %6.1f MB/s  %5.1f M inst/s  %.1f %% with "
	       "address",
		r->name, res.gfx_major, mb, mine, mb / mine, (double)res.insts / 1e6 / mine,
		res.insts ? 100.0 * (double)res.stitched / (double)res.insts : 0.0);
	if (against) {
		double other = median(theirs, rounds);

		printf("  library %.3f s = %.1f MB/s, %.1fx", other, mb / other, other / mine);
	}
	if (threads > 1) {
		struct cost one = median_cost(r, 1, rounds), many = median_cost(r, threads, rounds);

		printf("  %u threads %.2fx one (%.2fx by CPU time)", threads,
			one.wall * threads / many.wall, one.cpu * threads * threads / many.cpu);
	}
	printf("\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *against = NULL;
	unsigned rounds = 5, threads = 1;
	bool is_dense = false;
	size_t mb = 100;
	int i = 1;

	for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
		unsigned long v = strtoul(argv[i + 1], NULL, 10);

		if (strcmp(argv[i], "--against") == 0)
			against = argv[i + 1];
		else if (strcmp(argv[i], "--mb") == 0)
			mb = v;
		else if (strcmp(argv[i], "--rounds") == 0 && v && v <= MAX_ROUNDS)
			rounds = (unsigned)v;
		else if (strcmp(argv[i], "--dense") == 0)
			is_dense = v != 0;
		else if (strcmp(argv[i], "--threads") == 0 && v <= MAX_THREADS)
			threads = (unsigned)v;
	}
	if (i >= argc) {
		fprintf(stderr, "usage: sqtt [--against LIB.so] [--dense 1] [--mb N] [--rounds N] "
				"[--threads N] RUN_DIR...\n");
		return 2;
	}
	for (; i < argc; i++) {
		struct run r;

		load_run(&r, argv[i], mb * 1000000, is_dense);
		measure(&r, rounds, threads, against);
		unload_run(&r);
	}
	return 0;
}
