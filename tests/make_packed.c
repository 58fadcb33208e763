/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_packed.c: writes a packed trace of many slices for the tests of the viewer: 1,024 waves of a
 * loop, no two alike, WAVES of them one after the other in each slot.
 *
 *	make_packed MILLIONS WAVES FILE
 *	make_packed samples FILE	no wave, but samples of another vendor's machine
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "trace/packed.h"

#define ROWS 64u
#define SIMDS 4u
#define SLOTS 8u
#define TRACKS 1024u
#define CYCLES_A_SLICE 40u /* more than they take */

static const uint8_t classes[] = {CLASS_VMEM_LOAD, CLASS_SALU, CLASS_VALU, CLASS_MATRIX, CLASS_WAIT,
	CLASS_LDS, CLASS_VALU, CLASS_MATRIX};
static const char *const texts[] = {"buffer_load_dwordx4 v[12:15], v0, s[4:7], 0 offen",
	"s_add_u32 s4, s4, 64", "v_add_u32_e32 v3, v1, v2",
	"v_mfma_f32_16x16x16_f16 a[0:3], v[8:9], v[10:11], a[0:3]", "s_waitcnt vmcnt(0)",
	"ds_read_b128 v[16:19], v1 offset:1024", "v_mul_f32_e32 v9, v9, v3",
	"v_mfma_f32_32x32x8_f16 a[0:15], v[12:13], v[14:15], a[0:15]"};

static uint32_t draw(uint64_t *seed, uint32_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (uint32_t)(*seed >> 33) % below;
}

static bool load(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	const struct track *k = &t->tracks[i];
	uint64_t at = k->begin_cyc, seed = 88172645463325252u + 1000003u * (uint64_t)i;

	(void)want;
	if (!track_data_reserve(d, k->n_slices))
		return err_nomem(e);
	for (uint32_t n = 0; n < k->n_slices; n++) {
		uint8_t c = classes[n % sizeof(classes)];
		uint32_t stall = c == CLASS_WAIT   ? 4 * draw(&seed, 60)
				 : !draw(&seed, 8) ? 4 * draw(&seed, 8)
						   : 0;

		d->start_cyc[n] = at;
		d->dur_cyc[n] = stall + 4;
		d->stall_cyc[n] = stall;
		d->code[n] = n % ROWS;
		d->inst_class[n] = c;
		d->tag[n] = 0;
		at += d->dur_cyc[n];
	}
	d->n = k->n_slices;
	d->stated_slices = d->n;
	d->begin_cyc = k->begin_cyc;
	d->end_cyc = k->end_cyc;
	memcpy(d->coord_file, k->coord, sizeof(k->coord));
	return at <= k->end_cyc || err_set(e, INCORE_FAILED, "too-long", "a wave is too long");
}

static bool add_code(struct trace *t)
{
	t->n_code = ROWS;
	t->code = arena_zalloc(&t->arena, ROWS, sizeof(*t->code));
	t->n_opcodes = sizeof(texts) / sizeof(texts[0]);
	t->opcodes = arena_zalloc(&t->arena, t->n_opcodes, sizeof(*t->opcodes));
	if (!t->code || !t->opcodes)
		return false;
	for (uint32_t i = 0; i < t->n_opcodes; i++)
		t->opcodes[i] = arena_strndup(&t->arena, texts[i], strcspn(texts[i], " "));
	for (uint32_t i = 0; i < ROWS; i++) {
		t->code[i].text = texts[i % t->n_opcodes];
		t->code[i].text_len = (uint32_t)strlen(t->code[i].text);
		t->code[i].opcode = i % t->n_opcodes;
		t->code[i].inst_class = classes[i % sizeof(classes)];
		t->code[i].number = i + 1;
		t->code[i].address = 4096 + 8 * (uint64_t)i;
		t->code[i].source = "";
	}
	return true;
}

static bool add_tracks(struct trace *t, uint64_t n_slices, uint32_t waves)
{
	static const char *const levels[TRACK_LEVELS] = {"se", "cu", "simd", "slot", "wave"};
	uint64_t each = n_slices / TRACKS, length = each * CYCLES_A_SLICE;

	memcpy(t->levels, levels, sizeof(levels));
	t->n_tracks = TRACKS;
	t->tracks = arena_zalloc(&t->arena, t->n_tracks, sizeof(*t->tracks));
	if (!t->tracks)
		return false;
	for (uint32_t i = 0; i < t->n_tracks; i++) {
		uint32_t slot = i / waves, wave = i % waves;
		struct track *k = &t->tracks[i];

		*k = (struct track){.coord = {slot / SLOTS / SIMDS, 1, slot / SLOTS % SIMDS,
					    slot % SLOTS, wave},
			.n_slices = (uint32_t)each,
			.begin_cyc = wave * length + 40 * slot,
			.kernel_id = 1,
			.workgroup = NO_VALUE};
		k->end_cyc = k->begin_cyc + length - 4096;
		k->name = arena_printf(&t->arena, "se%u_sm%u_sl%u_wv%u.json", k->coord[0],
			k->coord[2], k->coord[3], wave);
		if (!k->name)
			return false;
	}
	return true;
}

static struct trace *make_samples(void)
{
	struct trace *t = trace_new();

	if (!t || !add_code(t))
		return NULL;
	if (!trace_make_samples(t, amd_stall_reasons, AMD_STALL_REASONS))
		return NULL;
	for (uint32_t i = 0; i < ROWS; i++) {
		t->samples[i].issued = i % 7;
		t->samples[i].stalled = i % 5;
		t->reason_counts[i * AMD_STALL_REASONS + i % AMD_STALL_REASONS].all = i % 5;
	}
	t->meta.vendor = VENDOR_NVIDIA;
	t->meta.evidence = EVIDENCE_HARDWARE_SAMPLE;
	t->meta.format = "incore";
	t->meta.origin = "samples";
	t->meta.kernel = "sampled_kernel";
	t->meta.arch = "sm_90";
	return t;
}

static struct trace *make(uint64_t n_slices, uint32_t waves)
{
	struct trace *t = trace_new();

	if (!t || !add_code(t) || !add_tracks(t, n_slices, waves))
		return NULL;
	t->n_clocks = 1;
	t->clocks = arena_zalloc(&t->arena, 1, sizeof(*t->clocks));
	t->n_kernel_names = 1;
	t->kernel_names = arena_zalloc(&t->arena, 1, sizeof(*t->kernel_names));
	if (!t->clocks || !t->kernel_names)
		return NULL;
	t->clocks[0].is_aligned = true;
	t->reference_clock = 0;
	t->kernel_names[0] = (struct kernel_name){1, "many_waves"};
	t->meta.vendor = VENDOR_AMD;
	t->meta.evidence = EVIDENCE_HARDWARE_TRACE;
	t->meta.format = "ui_output";
	t->meta.format_version = "3.0.0";
	t->meta.origin = "many";
	t->meta.kernel = "many_waves";
	t->meta.arch = "gfx950";
	t->meta.gfx_major = 9;
	t->meta.clock_quantum = 4;
	t->loader.load = load;
	return t;
}

static bool write_to(const char *path, struct trace *t, struct incore_error *e)
{
	FILE *f = fopen(path, "wb");
	struct packed_options o = {.level = 1, .pool = pool_new(0, e)};
	struct packed_result r;
	bool ok = t && f && o.pool && trace_seal(t, e) && packed_write(t, f, &o, &r, e);

	if (f && fclose(f) != 0)
		ok = false;
	if (ok)
		printf("%llu slices, %llu bytes\n", (unsigned long long)r.n_slices,
			(unsigned long long)r.file_bytes);
	pool_free(o.pool);
	return ok;
}

int main(int argc, char **argv)
{
	uint64_t millions = argc == 4 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t waves = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
	bool is_sampled = argc == 3 && strcmp(argv[1], "samples") == 0, ok;
	struct incore_error e = {0};
	struct trace *t;

	if (!is_sampled &&
		(!millions || millions > 1000 || !waves || waves > TRACKS || TRACKS % waves)) {
		fprintf(stderr, "usage: make_packed MILLIONS WAVES FILE | samples FILE\n");
		return 2;
	}
	t = is_sampled ? make_samples() : make(millions * 1000000u, (uint32_t)waves);
	ok = write_to(argv[argc - 1], t, &e);
	if (!ok)
		fprintf(stderr, "make_packed: %s\n", e.message ? e.message : "cannot write");
	incore_error_clear(&e);
	trace_free(t);
	return !ok;
}
