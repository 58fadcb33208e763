/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.c: the kernel and the architecture, as far as the directory itself has them. */
#include "base/search.h"
#include "import/ui_output/ui_output.h"

#include <stdlib.h>

static const char *label_name(const struct code_row *row)
{
	struct str s = str_trim(str_sub((struct str){row->text, row->text_len}, 1, row->text_len));

	return s.p;
}

/* The label whose rows have most latency; in a tie most hits, then the first. */
static const struct code_row *busiest_label(const struct trace *t)
{
	const struct code_row *label = NULL, *best = NULL;
	uint64_t latency = 0, hit = 0, best_latency = 0, best_hit = 0;

	for (uint32_t i = 0; i <= t->n_code; i++) {
		if (i == t->n_code || t->code[i].is_label) {
			if (label && (!best || latency > best_latency ||
					     (latency == best_latency && hit > best_hit))) {
				best = label;
				best_latency = latency;
				best_hit = hit;
			}
			if (i == t->n_code)
				break;
			label = &t->code[i];
			latency = hit = 0;
			continue;
		}
		latency += t->code[i].stated.latency;
		hit += t->code[i].stated.hit;
		if (t->samples)
			hit += t->samples[i].issued + t->samples[i].stalled;
	}
	return best;
}

/* "<codeobj> / 0x<address>" stands for a kernel without a name. */
static bool is_real_name(const char *name)
{
	return *name && !strstr(name, " / 0x");
}

ORDER(compare_ids, struct kernel_name, UP(id))

/* Without code: the name of the id with most wave starts. */
static const char *started_most(const struct trace *t, uint64_t *starts)
{
	const char *best = NULL;
	uint64_t best_n = 0;

	for (uint32_t i = 0; i < t->n_occupancy; i++) {
		struct kernel_name key = {.id = t->occupancy[i].kernel_id};
		const struct kernel_name *k =
			bsearch(&key, t->kernel_names, t->n_kernel_names, sizeof(key), compare_ids);

		if (k && t->occupancy[i].is_start)
			starts[k - t->kernel_names]++;
	}
	for (uint32_t k = 0; k < t->n_kernel_names; k++)
		if (is_real_name(t->kernel_names[k].name) && (!best || starts[k] > best_n)) {
			best = t->kernel_names[k].name;
			best_n = starts[k];
		}
	return best;
}

bool ui_name_kernel(struct ui_build *b, struct incore_error *e)
{
	struct trace *t = b->trace;
	const struct code_row *label = busiest_label(t);

	if (!label) {
		uint64_t *starts = mem_zalloc((size_t)t->n_kernel_names + 1, sizeof(*starts));

		if (!starts)
			return err_nomem(e);
		if (t->n_kernel_names) {
			t->meta.kernel = started_most(t, starts);
			t->kernel_from.tables = IMPORT_OCCUPANCY;
		}
		mem_free(starts);
		return true;
	}
	b->has_kernel_object = true;
	b->kernel_object = label->code_object;
	b->kernel_demangled = *label->source ? label->source : NULL;
	t->meta.kernel = arena_strdup(&t->arena, label_name(label));
	return t->meta.kernel || err_nomem(e);
}

/* Instructions that identify a target: no other of its family has them. */
static const struct {
	const char *word, *arch;
	unsigned gfx_major;
} hints[] = {
	{"v_mfma_f32_16x16x128_f8f6f4", "gfx950", 9},
	{"v_mfma_f32_32x32x64_f8f6f4", "gfx950", 9},
	{"v_mfma_scale_f32_16x16x128_f8f6f4", "gfx950", 9},
	{"v_mfma_scale_f32_32x32x64_f8f6f4", "gfx950", 9},
	{"v_mfma_f32_16x16x32_bf16", "gfx950", 9},
	{"v_mfma_f32_16x16x32_f16", "gfx950", 9},
	{"v_mfma_f32_32x32x16_bf16", "gfx950", 9},
	{"v_mfma_f32_32x32x16_f16", "gfx950", 9},
	{"v_cvt_pk_bf16_f32", "gfx950", 9},
	{"v_bitop3_b32", "gfx950", 9},
	{"v_permlane32_swap_b32", "gfx950", 9},
	{"v_permlane16_swap_b32", "gfx950", 9},
	{"v_prng_b32", "gfx950", 9},
	{"ds_read_b64_tr_b16", "gfx950", 9},
	/* this spelling is only on this target; gfx942 code runs on gfx950 too and proves
	 * nothing */
	{"v_mfma_f64_16x16x4f64", "gfx90a", 9},
	{"v_mfma_f64_4x4x4f64", "gfx90a", 9},
	{"v_mfma_f32_16x16x16bf16_1k", "gfx90a", 9},
	{"v_mfma_f32_32x32x8bf16_1k", "gfx90a", 9},
};

static bool has_opcode(const struct trace *t, const char *word)
{
	size_t n = strlen(word);

	for (uint32_t i = 0; i < t->n_opcodes; i++) {
		const char *op = t->opcodes[i];

		/* also with an encoding suffix: v_bitop3_b32_e64 */
		if (!strncmp(op, word, n) && (op[n] == '\0' || !strncmp(op + n, "_e", 2)))
			return true;
	}
	return false;
}

void ui_guess_arch(struct ui_build *b)
{
	struct trace *t = b->trace;

	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++)
		if (hints[i].gfx_major == t->meta.gfx_major && has_opcode(t, hints[i].word)) {
			t->meta.arch = hints[i].arch;
			t->meta.arch_source = "instructions";
			return;
		}
	if (!t->meta.gfx_major)
		return;
	t->meta.arch = arena_printf(&t->arena, "gfx%u", t->meta.gfx_major);
	t->meta.arch_source = t->meta.arch ? "filenames.json" : NULL;
}
