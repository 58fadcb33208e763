/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_sqtt.c: raw thread traces as rocprofv3 leaves them, made by our own encoder: two shader
 * engines of one dispatch and the code object that ran. The same bytes on every machine.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "code_object.h"
#include "random_stream.h"

#define PREFIX "4242" /* process */
#define AGENT 1000
#define DISPATCH 3
#define LOAD_BASE UINT64_C(0x7f3a00000000)
#define OBJECT 2u
#define KERNEL "scale_rows"
#define RT_START UINT64_C(50000000000) /* of the 100 MHz clock */
#define CYC_PER_TICK 22
/* Begin of meta.json: a stream has no place for a mark that its readers would pass over. */
#define MARK "{\"synthetic\":true"
#define SKEW_CYC 752 /* shader engine 1 started its clock later */

/* A row at a time: load, scale, exchange through LDS, store; by lines of a source "scale.py". */
static const struct {
	enum sq_op op;
	uint8_t line;
} kernel[] = {
	{SQ_OP_SMEM, 6},
	{SQ_OP_SMEM, 6},
	{SQ_OP_VALU, 7},
	{SQ_OP_WAIT_SMEM, 7},
	{SQ_OP_LOAD, 9},
	{SQ_OP_LOAD, 9},
	{SQ_OP_WAIT_VMEM, 10}, /* the loop begins here */
	{SQ_OP_FMA, 2},
	{SQ_OP_FMA, 2},
	{SQ_OP_FMA, 3},
	{SQ_OP_LDS_WRITE, 12},
	{SQ_OP_WAIT_LDS, 13},
	{SQ_OP_SIGNAL, 13},
	{SQ_OP_BARWAIT, 13},
	{SQ_OP_BARRIER, 13},
	{SQ_OP_LDS, 14},
	{SQ_OP_SADD, 9},
	{SQ_OP_WAIT_LDS, 15},
	{SQ_OP_VALU, 15},
	{SQ_OP_BUFFER, 9},
	{SQ_OP_SKIP, 9},
	{SQ_OP_CBRANCH, 9},
	{SQ_OP_STORE, 16},
	{SQ_OP_END, 17},
};
#define N_KERNEL (sizeof(kernel) / sizeof(kernel[0]))
#define LOOP_OP SQ_OP_WAIT_VMEM
#define INLINED_LINE 3 /* lines up to this one are of the function that was inlined */

#define N_IDLE 120 /* instructions of a kernel that no wave comes to */
#define MAX_KERNEL (N_IDLE + 3)
_Static_assert(MAX_KERNEL > N_KERNEL, "room for both kernels");

/* The loop may begin with an instruction that leaves no token. */
static void make_program(struct sq_program *p, enum sq_gen gen, bool is_head_quiet, uint8_t *lines)
{
	uint32_t loop = 0;

	*p = (struct sq_program){.gen = gen, .vaddr = 0x1900};
	for (size_t i = 0; i < N_KERNEL; i++) {
		enum sq_op op = kernel[i].op;

		if (op == SQ_OP_BARRIER && gen != SQ_GFX9) /* gfx12 has two halves of it */
			continue;
		if (!sq_has_op(gen, op))
			continue;
		if (op == LOOP_OP) {
			loop = p->n;
			if (is_head_quiet) {
				lines[p->n] = kernel[i].line;
				sq_add_line(p, SQ_OP_SKIP, 0);
			}
		}
		lines[p->n] = kernel[i].line;
		sq_add_line(p, op, loop);
	}
	sq_assemble(p);
}

/* Every wave goes straight to the end. */
static void make_early_program(struct sq_program *p, enum sq_gen gen, uint8_t *lines)
{
	*p = (struct sq_program){.gen = gen, .vaddr = 0x1900};
	sq_add_line(p, SQ_OP_SALU, 0);
	sq_add_line(p, SQ_OP_BRANCH, N_IDLE + 2);
	for (unsigned i = 0; i < N_IDLE; i++)
		sq_add_line(p, SQ_OP_VALU, 0);
	sq_add_line(p, SQ_OP_END, 0);
	memset(lines, 6, p->n);
	sq_assemble(p);
}

static bool write_file(const char *dir, const char *name, const char *p, size_t n)
{
	char path[8192];
	int length = snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = length > 0 && (size_t)length < sizeof(path) ? fopen(path, "wb") : NULL;
	bool ok;

	if (!f)
		return false;
	ok = fwrite(p, 1, n, f) == n;
	return fclose(f) == 0 && ok;
}

static bool write_object(
	const char *dir, const char *name, const struct sq_program *p, const uint8_t *lines)
{
	struct sq_object o = {.program = p,
		.kernel = KERNEL,
		.vgprs = 24,
		.agprs = p->gen == SQ_GFX9 ? 8 : 0,
		.sgprs = 16,
		.lds_bytes = 1024,
		.wave_size = p->gen == SQ_GFX9 ? 64 : 32,
		.workgroup = 256,
		.dir = "/kernels",
		.source = "scale.py",
		.lines = lines,
		.inlined = "scale",
		.inlined_from = UINT32_MAX,
		.call_line = 11};
	struct strbuf b = {0};
	bool ok;

	for (uint32_t i = 0; i < p->n; i++) {
		if (lines[i] > INLINED_LINE)
			continue;
		if (o.inlined_from == UINT32_MAX)
			o.inlined_from = i;
		o.inlined_to = i + 1;
	}
	ok = sq_write_object(&o, &b) && write_file(dir, name, b.p, b.n);
	sb_free(&b);
	return ok;
}

/* Two samples that all engines take at the same tick of the common clock. */
static bool add_clock(struct sq_stream *s)
{
	int64_t first = 2000 + (s->se == 0 ? SKEW_CYC : 0), ticks = 1000;
	struct sqtt_realtime a = {.time = first, .clock = RT_START}, b = a;

	for (size_t i = 0; i < s->waves.n; i++)
		while (s->waves.v[i].end > 2000 + ticks * CYC_PER_TICK)
			ticks += 1000;
	b.time += ticks * CYC_PER_TICK / 4 * 4;
	b.clock += (uint64_t)ticks;
	return VEC_PUSH(&s->realtime, a) && VEC_PUSH(&s->realtime, b);
}

struct capture {
	enum sq_gen gen;
	unsigned n_waves, max_insts;
	bool has_losses;
	bool is_cut; /* the second stream ends too early */
	bool is_head_quiet;
	bool is_missed; /* no wave runs on the target CU */
	bool is_early;	/* no wave does any work */
};

/* Takes the waves of the target CU away. */
static void miss_target(struct sq_stream *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->waves.n; i++) {
		struct sq_wave w = s->waves.v[i];

		if (w.cu != s->cu) {
			s->waves.v[n++] = w;
			continue;
		}
		VEC_FREE(&w.insts);
		VEC_FREE(&w.spans);
	}
	s->waves.n = n;
	s->perf.n = s->shaderdata.n = s->other.n = 0;
}

static bool write_stream(
	const char *dir, const struct capture *c, const struct sq_program *p, unsigned se)
{
	struct sq_shape shape = {.seed = 100 + se,
		.has_extras = true,
		.has_losses = c->has_losses && se == 1,
		.n_waves = c->n_waves,
		.max_insts = c->max_insts,
		.is_placed = true,
		.cu = 1,
		.load_base = LOAD_BASE,
		.object = OBJECT,
		.rt_khz = 100000};
	struct sq_stream s;
	struct strbuf b = {0};
	char name[128];
	bool ok = sq_random_stream(&s, p, &shape);

	s.se = se;
	s.realtime.n = 0;
	if (c->is_missed)
		miss_target(&s);
	ok = ok && add_clock(&s) && sq_encode(&s, &b);
	snprintf(name, sizeof(name), PREFIX "_%d_shader_engine_%u_%d.att", AGENT, se, DISPATCH);
	if (ok)
		ok = write_file(dir, name, b.p, c->is_cut && se == 1 ? b.n / 2 + 1 : b.n);
	sb_free(&b);
	sq_stream_deinit(&s);
	return ok;
}

static bool make(const char *dir, const struct capture *c)
{
	struct sq_program p;
	uint8_t lines[MAX_KERNEL];
	char host[4096], object[128];

	if (c->is_early)
		make_early_program(&p, c->gen, lines);
	else
		make_program(&p, c->gen, c->is_head_quiet, lines);
	snprintf(object, sizeof(object), PREFIX "_%s_code_object_id_%u.out", sq_gpu_name(c->gen),
		OBJECT);
	snprintf(host, sizeof(host), "%s/host", dir); /* rocprofv3 puts them into such a folder */
	mkdir(dir, 0777);
	mkdir(host, 0777);
	return write_object(host, object, &p, lines) && write_stream(host, c, &p, 0) &&
	       write_stream(host, c, &p, 1) &&
	       write_file(host, "meta.json", MARK "}\n", sizeof(MARK "}\n") - 1);
}

static const struct variant {
	const char *name, *what;
	struct capture capture;
} variants[] = {
	{"sqtt_gfx9", "raw thread trace of gfx950: counters, data, two engines",
		{.gen = SQ_GFX9, .n_waves = 20, .max_insts = 60}},
	{"sqtt_gfx11", "raw thread trace of gfx1100: one SIMD, issues of the others",
		{.gen = SQ_GFX11, .n_waves = 30, .max_insts = 60}},
	{"sqtt_gfx12", "raw thread trace of gfx1200",
		{.gen = SQ_GFX12, .n_waves = 30, .max_insts = 60}},
	{"sqtt_cut", "gfx950: packets lost, and the second stream is cut",
		{.gen = SQ_GFX9,
			.n_waves = 10,
			.max_insts = 30,
			.has_losses = true,
			.is_cut = true}},
	{"sqtt_quiet_head", "gfx1200: the first instruction of the loop leaves no token",
		{.gen = SQ_GFX12, .n_waves = 12, .max_insts = 60, .is_head_quiet = true}},
};
#define N_VARIANTS (sizeof(variants) / sizeof(variants[0]))

/* For the tests of capture drivers alone: not among the fixtures. */
static const struct variant extras[] = {
	{"missed", "gfx950: no wave on the target CU",
		{.gen = SQ_GFX9, .n_waves = 20, .max_insts = 60, .is_missed = true}},
	{"early", "gfx950: every wave leaves at once",
		{.gen = SQ_GFX9, .n_waves = 20, .max_insts = 60, .is_early = true}},
};
#define N_EXTRAS (sizeof(extras) / sizeof(extras[0]))

/* A plain run: one stream, the code, where it was loaded. For benchmarks. */
static bool make_run(const char *dir, enum sq_gen gen)
{
	struct sq_shape shape = {.seed = 1,
		.n_waves = 400,
		.max_insts = 300,
		.is_placed = true,
		.cu = 1,
		.load_base = LOAD_BASE};
	struct sq_program p;
	struct sq_stream s;
	struct strbuf b = {0};
	uint8_t lines[MAX_KERNEL];
	char meta[128];
	bool ok;

	make_program(&p, gen, false, lines);
	mkdir(dir, 0777);
	snprintf(meta, sizeof(meta),
		MARK ",\"gfx\":\"%s\",\"kernel\":\"" KERNEL "\",\"load_base\":%llu}\n",
		sq_gpu_name(gen), (unsigned long long)LOAD_BASE);
	ok = sq_random_stream(&s, &p, &shape) && sq_encode(&s, &b) &&
	     write_file(dir, "se0.sqtt", b.p, b.n) &&
	     write_file(dir, "meta.json", meta, strlen(meta)) &&
	     write_object(dir, "code.elf", &p, lines);
	sb_free(&b);
	sq_stream_deinit(&s);
	return ok;
}

static int make_runs(const char *dir)
{
	char path[8192];

	mkdir(dir, 0777);
	for (enum sq_gen gen = SQ_GFX9; gen < SQ_GENS; gen++) {
		snprintf(path, sizeof(path), "%s/%s", dir, sq_gpu_name(gen));
		if (gen != SQ_GFX10 && !make_run(path, gen))
			return 1;
	}
	return 0;
}

/* Inputs of tests/fuzz/fuzz_sqtt_gfx9.c and fuzz_sqtt_gfx10.c: rules, words of code, tokens. */
static bool write_fuzz(const char *dir, enum sq_gen gen, unsigned seed)
{
	uint64_t state = seed * 77 + (unsigned)gen;
	struct sq_shape shape = {.seed = seed,
		.is_c16 = seed % 3 == 2,
		.has_extras = true,
		.n_waves = 3,
		.max_insts = 12,
		.is_placed = true,
		.load_base = 0x100000,
		.object = seed & 1};
	struct sq_program p;
	struct sq_stream s;
	struct strbuf b = {0}, out = {0};
	char name[64];
	bool ok;

	sq_random_program(&p, gen, &state,
		SQ_PROGRAM_SETPC | (shape.is_c16 && gen == SQ_GFX9 ? 0 : SQ_PROGRAM_MESSAGES));
	p.vaddr = 0;
	sq_assemble(&p);
	ok = sq_random_stream(&s, &p, &shape) && sq_encode(&s, &b);
	sb_putc(&out, (char)(seed % 3 | (gen == SQ_GFX9 ? 0u : (unsigned)gen - 1) << 4));
	sb_putc(&out, (char)(p.size / 4));
	sb_add(&out, (const char *)p.bytes, p.size);
	if (ok)
		sb_add(&out, b.p + 8, b.n - 8);
	snprintf(name, sizeof(name), "sqtt_%s/encoded_%u_%u", gen == SQ_GFX9 ? "gfx9" : "gfx10",
		sq_gfx_major(gen), seed);
	ok = ok && !out.failed && write_file(dir, name, out.p, out.n);
	sb_free(&b);
	sb_free(&out);
	sq_stream_deinit(&s);
	return ok;
}

static int make_fuzz(const char *dir)
{
	for (enum sq_gen gen = SQ_GFX9; gen < SQ_GENS; gen++)
		for (unsigned seed = 0; seed < 3; seed++)
			if (!write_fuzz(dir, gen, seed))
				return 1;
	return 0;
}

static int make_all(const char *dir)
{
	char path[8192];

	for (size_t i = 0; i < N_VARIANTS; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, variants[i].name);
		if (!make(path, &variants[i].capture)) {
			fprintf(stderr, "make_sqtt: cannot write %s\n", path);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (size_t i = 0; i < N_VARIANTS; i++)
			printf("%-16s %s\n", variants[i].name, variants[i].what);
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "--all") == 0)
		return make_all(argv[2]);
	if (argc == 3 && strcmp(argv[1], "--fuzz") == 0)
		return make_fuzz(argv[2]);
	if (argc == 3 && strcmp(argv[1], "--runs") == 0)
		return make_runs(argv[2]);
	for (size_t i = 0; argc == 3 && i < N_VARIANTS; i++)
		if (strcmp(argv[1], variants[i].name) == 0)
			return make(argv[2], &variants[i].capture) ? 0 : 1;
	for (size_t i = 0; argc == 3 && i < N_EXTRAS; i++)
		if (strcmp(argv[1], extras[i].name) == 0)
			return make(argv[2], &extras[i].capture) ? 0 : 1;
	fprintf(stderr, "usage: make_sqtt VARIANT DIRECTORY | --all DIRECTORY | --list |\n"
			"       --fuzz CORPUS | --runs DIRECTORY\n");
	return 2;
}
