/* SPDX-License-Identifier: Apache-2.0 */
/* flydsl_hotspot.c: prints the report of the older hotspot script, byte for byte. */
#include "analysis/code/flydsl_hotspot.h"
#include "base/search.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#define BAR_CELLS 30
#define RULE_CELLS 90

static const char *const type_names[FLYDSL_TYPE_COUNT] = {
	[FLYDSL_VMEM_WAIT] = "VMEM-wait",
	[FLYDSL_LGKM_WAIT] = "LDS/SMEM-wait",
	[FLYDSL_EXP_WAIT] = "EXP-wait",
	[FLYDSL_WAITCNT] = "waitcnt",
	[FLYDSL_BARRIER] = "barrier",
	[FLYDSL_VMEM_LOAD] = "VMEM-load",
	[FLYDSL_VMEM_STORE] = "VMEM-store",
	[FLYDSL_LDS] = "LDS",
	[FLYDSL_SMEM] = "SMEM",
	[FLYDSL_MATRIX] = "MFMA/FMA",
	[FLYDSL_OTHER] = "other",
};

const char *flydsl_type_name(enum flydsl_type type)
{
	return type_names[type];
}

static bool has_text(struct str s, const char *needle)
{
	return memmem(s.p, s.n, needle, strlen(needle)) != NULL;
}

enum flydsl_type flydsl_type_of(struct str text)
{
	/* the tests are tried in this order, the first match decides */
	static const struct {
		const char *needle;
		enum flydsl_type type;
	} tests[] = {
		{"s_barrier", FLYDSL_BARRIER},
		{"s_wait_idle", FLYDSL_BARRIER},
		{"buffer_load", FLYDSL_VMEM_LOAD},
		{"global_load", FLYDSL_VMEM_LOAD},
		{"flat_load", FLYDSL_VMEM_LOAD},
		{"buffer_store", FLYDSL_VMEM_STORE},
		{"global_store", FLYDSL_VMEM_STORE},
		{"ds_read", FLYDSL_LDS},
		{"ds_write", FLYDSL_LDS},
		{"s_load", FLYDSL_SMEM},
		{"s_store", FLYDSL_SMEM},
		{"v_mfma", FLYDSL_MATRIX},
		{"v_fma", FLYDSL_MATRIX},
	};
	char buf[256];
	struct str low = {buf, text.n < sizeof(buf) ? text.n : sizeof(buf)};

	for (size_t i = 0; i < low.n; i++)
		buf[i] = (char)tolower((unsigned char)text.p[i]);
	if (has_text(low, "s_waitcnt")) {
		if (has_text(low, "vmcnt"))
			return FLYDSL_VMEM_WAIT;
		if (has_text(low, "lgkmcnt"))
			return FLYDSL_LGKM_WAIT;
		return has_text(low, "expcnt") ? FLYDSL_EXP_WAIT : FLYDSL_WAITCNT;
	}
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if (has_text(low, tests[i].needle))
			return tests[i].type;
	return FLYDSL_OTHER;
}

/* The script's notion of an instruction: a row whose number is not 0. */
static bool is_kept(const struct code_row *r)
{
	return r->number != 0;
}

static enum flydsl_type type_of_row(const struct code_row *r)
{
	return flydsl_type_of((struct str){r->text, r->text_len});
}

void flydsl_stall_by_type(const struct trace *t, uint64_t sums[FLYDSL_TYPE_COUNT])
{
	for (unsigned i = 0; i < FLYDSL_TYPE_COUNT; i++)
		sums[i] = 0;
	for (code_idx i = 0; i < t->n_code; i++)
		if (is_kept(&t->code[i]))
			sums[type_of_row(&t->code[i])] += t->code[i].stated.stall;
}

/* --- small formats -------------------------------------------------------------------------- */

static void flydsl_hotspot_put_cycles(struct strbuf *out, uint64_t v, int width)
{
	char buf[32];

	if (v >= 1000000)
		snprintf(buf, sizeof(buf), "%.2fM", (double)v / 1e6);
	else if (v >= 1000)
		snprintf(buf, sizeof(buf), "%.1fK", (double)v / 1e3);
	else
		snprintf(buf, sizeof(buf), "%u", (unsigned)v);
	sb_printf(out, "%*s", width, buf);
}

/* Keeps the order of operations, which decides how bars are rounded. */
static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_repeated(struct strbuf *out, const char *cell, unsigned n)
{
	while (n--)
		sb_puts(out, cell);
}

static void put_bar(struct strbuf *out, double pct)
{
	int filled = (int)(pct / 100 * BAR_CELLS);

	filled = filled < 0 ? 0 : filled > BAR_CELLS ? BAR_CELLS : filled;
	sb_putc(out, '[');
	put_repeated(out, "\u2588", (unsigned)filled);
	put_repeated(out, "\u2591", (unsigned)(BAR_CELLS - filled));
	sb_printf(out, "] %5.1f%%", pct);
}

static void put_title(struct strbuf *out, const char *fmt, uint64_t top)
{
	sb_putc(out, '\n');
	put_repeated(out, "\u2550", RULE_CELLS);
	sb_puts(out, "\n  ");
	if (top)
		sb_printf(out, "Top-%llu ", (unsigned long long)top);
	sb_puts(out, fmt);
	sb_putc(out, '\n');
	put_repeated(out, "\u2550", RULE_CELLS);
	sb_putc(out, '\n');
}

static size_t utf8_count(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

/* Byte offset of character k. */
static size_t utf8_offset(struct str s, size_t k)
{
	size_t i = 0;

	while (i < s.n && k > 0) {
		i++;
		while (i < s.n && ((unsigned char)s.p[i] & 0xc0) == 0x80)
			i++;
		k--;
	}
	return i;
}

static struct str last_chars(struct str s, size_t n)
{
	size_t len = utf8_count(s), skip = len > n ? utf8_offset(s, len - n) : 0;

	return str_sub(s, skip, s.n - skip);
}

static struct str flydsl_hotspot_source_of(const struct code_row *r)
{
	return r->source && r->source[0] ? str_of(r->source) : STR("<unknown>");
}

/* --- registers ------------------------------------------------------------------------------ */

/* Highest N of "<letter>N" or of the lower bound in "<letter>[N:M]"; -1 if there is none. */
static int highest_register(const struct trace *t, char letter)
{
	long best = -1;

	for (code_idx i = 0; i < t->n_code; i++) {
		const char *s = t->code[i].text;

		if (!is_kept(&t->code[i]))
			continue;
		for (const char *p = s; *p; p++) {
			const char *digits = p + 1 + (p[1] == '[');
			char *end;
			long n;

			if (*p != letter || (p > s && char_is_word(p[-1])) ||
				!isdigit((unsigned char)*digits))
				continue;
			n = strtol(digits, &end, 10);
			if (n > best && n < 100000 && (digits[-1] == '[' || !char_is_word(*end)))
				best = n;
		}
	}
	return (int)best;
}

static bool has_gfx950_matrix(const struct trace *t)
{
	static const char *const marks[] = {
		"v_mfma_scale_f32", "v_mfma_f32_16x16x128", "v_mfma_f32_32x32x64"};

	for (code_idx i = 0; i < t->n_code; i++)
		for (size_t k = 0; k < sizeof(marks) / sizeof(marks[0]); k++)
			if (is_kept(&t->code[i]) && strstr(t->code[i].text, marks[k]))
				return true;
	return false;
}

static unsigned count_rows_with(const struct trace *t, const char *a, const char *b)
{
	unsigned n = 0;

	for (code_idx i = 0; i < t->n_code; i++)
		n += is_kept(&t->code[i]) &&
		     (strstr(t->code[i].text, a) || (b && strstr(t->code[i].text, b)));
	return n;
}

static void put_registers(const struct trace *t, struct strbuf *out)
{
	bool is_950 = has_gfx950_matrix(t);
	int arch = highest_register(t, 'v') + 1, acc = highest_register(t, 'a') + 1;
	int arch_alloc = (arch + 7) / 8 * 8, acc_alloc, pool, size, waves;

	if (acc <= 1)
		acc = 0;
	acc_alloc = (acc + 7) / 8 * 8;
	size = is_950 ? 512 : 256;
	pool = is_950 ? arch_alloc + acc_alloc : arch_alloc > acc_alloc ? arch_alloc : acc_alloc;
	waves = pool > 0 ? size / pool : 8;
	waves = waves > 8 ? 8 : waves;

	put_title(out, "Register Pressure & Occupancy", 0);
	sb_printf(out, "  Architecture:   %s\n", is_950 ? "gfx950 (CDNA4)" : "gfx942 (CDNA3)");
	sb_printf(out, "  arch_vgpr:      ~%d (alloc %d)\n", arch, arch_alloc);
	if (acc)
		sb_printf(out, "  accum_vgpr:     ~%d (alloc %d)\n", acc, acc_alloc);
	else
		sb_puts(out, "  accum_vgpr:     0 (not used)\n");
	if (is_950)
		sb_printf(out, "  total_vgpr:     %d / 512 (combined pool)\n", pool);
	else
		sb_printf(out, "  limiting pool:  %d / 256\n", pool);
	sb_printf(out, "  occupancy:      %d waves/SIMD\n", waves);
	if (waves < 8)
		sb_printf(out, "  -> %d waves requires %s <= %d\n", waves + 1,
			is_950 ? "total_vgpr" : "max(arch,accum)", size / (waves + 1));
	sb_puts(out, "\n  Instruction mix:\n");
	sb_printf(out, "    MFMA: %u,  buffer_load: %u,  buffer_store: %u\n",
		count_rows_with(t, "v_mfma_", NULL), count_rows_with(t, "buffer_load", NULL),
		count_rows_with(t, "buffer_store", NULL));
	sb_printf(out, "    ds_read: %u,  ds_write: %u\n", count_rows_with(t, "ds_read", "ds_load"),
		count_rows_with(t, "ds_write", "ds_store"));
}

/* --- tables --------------------------------------------------------------------------------- */

/* One line of a table, to be sorted by stall; `order` keeps the sort stable. */
struct flydsl_hotspot_entry {
	uint64_t stall, cycles;
	uint32_t order;
	enum flydsl_type type;
	struct str source, text;
	uint64_t by_type[FLYDSL_TYPE_COUNT];   /* lines only */
	uint32_t type_seen[FLYDSL_TYPE_COUNT]; /* when a type first had stall; 0: never */
	uint32_t n_types;
};

ORDER(compare_entries, struct flydsl_hotspot_entry, DOWN(stall) UP(order))

static void put_types(const struct trace *t, uint64_t total, struct strbuf *out)
{
	struct flydsl_hotspot_entry v[FLYDSL_TYPE_COUNT] = {0};
	uint64_t sums[FLYDSL_TYPE_COUNT];
	uint32_t first[FLYDSL_TYPE_COUNT];

	flydsl_stall_by_type(t, sums);
	for (unsigned i = 0; i < FLYDSL_TYPE_COUNT; i++)
		first[i] = UINT32_MAX;
	for (code_idx i = t->n_code; i-- > 0;)
		if (is_kept(&t->code[i]) && t->code[i].stated.stall)
			first[type_of_row(&t->code[i])] = i;
	for (unsigned i = 0; i < FLYDSL_TYPE_COUNT; i++)
		v[i] = (struct flydsl_hotspot_entry){
			.stall = sums[i], .type = i, .order = first[i]};
	SORT(v, FLYDSL_TYPE_COUNT, compare_entries);

	put_title(out, "Stall Breakdown by Type", 0);
	sb_puts(out, "  Type               Stall  Bar\n"
		     "  --------------  --------  --------------------------------------\n");
	for (unsigned i = 0; i < FLYDSL_TYPE_COUNT && v[i].stall; i++) {
		sb_printf(out, "  %-14s  ", type_names[v[i].type]);
		flydsl_hotspot_put_cycles(out, v[i].stall, 8);
		sb_puts(out, "  ");
		put_bar(out, percent(v[i].stall, total));
		sb_putc(out, '\n');
	}
}

static void add_to_line(struct flydsl_hotspot_entry *l, const struct code_row *r)
{
	enum flydsl_type type = type_of_row(r);

	l->stall += r->stated.stall;
	l->cycles += r->stated.latency;
	l->by_type[type] += r->stated.stall;
	if (r->stated.stall && !l->type_seen[type])
		l->type_seen[type] = ++l->n_types;
}

static enum flydsl_type dominant_type(const struct flydsl_hotspot_entry *l)
{
	enum flydsl_type best = FLYDSL_OTHER;
	uint64_t most = 0;
	uint32_t seen = UINT32_MAX;

	for (unsigned i = 0; i < FLYDSL_TYPE_COUNT; i++)
		if (l->by_type[i] > most ||
			(most && l->by_type[i] == most && l->type_seen[i] < seen)) {
			most = l->by_type[i];
			seen = l->type_seen[i];
			best = i;
		}
	return best;
}

static bool flydsl_hotspot_put_lines(
	const struct trace *t, uint64_t total, uint64_t top, struct strbuf *out)
{
	struct flydsl_hotspot_entry *v = mem_zalloc((size_t)t->n_code + 1, sizeof(*v));
	struct intern names;
	uint32_t n = 0;
	bool ok = v != NULL;

	intern_init(&names);
	for (code_idx i = 0; ok && i < t->n_code; i++) {
		uint32_t k;

		if (!is_kept(&t->code[i]))
			continue;
		k = intern_add(&names, flydsl_hotspot_source_of(&t->code[i]));
		if (k == INTERN_NONE) {
			ok = false;
			break;
		}
		if (k == n)
			v[n++] = (struct flydsl_hotspot_entry){
				.order = k, .source = flydsl_hotspot_source_of(&t->code[i])};
		add_to_line(&v[k], &t->code[i]);
	}
	if (ok) {
		SORT(v, n, compare_entries);
		put_title(out, "Hotspot Source Lines  (stall cycles aggregated)", top);
		sb_puts(out,
			"    #     Stall   %Total  StallBar                                DomType       Source\n  ---  --------  -------  --------------------------------------  ------------  ----------------------------------------\n");
	}
	for (uint32_t i = 0; ok && i < n && i < top && v[i].stall; i++) {
		struct str src = last_chars(v[i].source, 48);

		sb_printf(out, "  %3u  ", i + 1);
		flydsl_hotspot_put_cycles(out, v[i].stall, 8);
		sb_printf(out, "  %6.2f%%  ", percent(v[i].stall, total));
		put_bar(out, percent(v[i].stall, v[i].cycles));
		sb_printf(out, "  %-12s  ", type_names[dominant_type(&v[i])]);
		sb_plain(out, src);
		sb_putc(out, '\n');
	}
	intern_deinit(&names);
	mem_free(v);
	return ok;
}

static void put_asm_row(
	const struct flydsl_hotspot_entry *r, uint32_t rank, uint64_t total, struct strbuf *out)
{
	struct str text = r->text, src = last_chars(r->source, 38);
	size_t len = utf8_count(text);
	bool is_cut = len > 48;

	if (is_cut) {
		text = str_sub(text, 0, utf8_offset(text, 47));
		len = 48;
	}
	sb_printf(out, "  %3u  ", rank);
	flydsl_hotspot_put_cycles(out, r->stall, 8);
	sb_printf(out, "  %6.2f%%  %-12s  ", percent(r->stall, total), type_names[r->type]);
	sb_plain(out, text);
	if (is_cut)
		sb_puts(out, "\u2026");
	put_repeated(out, " ", (unsigned)(48 - len));
	sb_puts(out, "  ");
	sb_plain(out, src);
	sb_putc(out, '\n');
}

static bool put_asm(const struct trace *t, uint64_t total, uint64_t top, struct strbuf *out)
{
	struct flydsl_hotspot_entry *v = mem_zalloc((size_t)t->n_code + 1, sizeof(*v));
	uint32_t n = 0;

	if (!v)
		return false;
	for (code_idx i = 0; i < t->n_code; i++)
		if (is_kept(&t->code[i])) {
			const struct code_row *r = &t->code[i];

			v[n] = (struct flydsl_hotspot_entry){.stall = r->stated.stall,
				.order = n,
				.type = type_of_row(r),
				.source = flydsl_hotspot_source_of(r),
				.text = {r->text, r->text_len}};
			n++;
		}
	SORT(v, n, compare_entries);
	put_title(out, "Hotspot Instructions  (by stall cycles)", top);
	sb_puts(out,
		"    #     Stall   %Total  Type          ASM                                               Source\n"
		"  ---  --------  -------  ------------  ------------------------------------------------  ------------------------------\n");
	for (uint32_t i = 0; i < n && i < top && v[i].stall; i++)
		put_asm_row(&v[i], i + 1, total, out);
	mem_free(v);
	return true;
}

bool flydsl_report(const struct trace *t, const char *arg, const struct flydsl_options *o,
	struct strbuf *out, struct incore_error *e)
{
	const char *slash = strrchr(arg, '/');
	uint64_t n = 0, cycles = 0, stall = 0;

	for (code_idx i = 0; i < t->n_code; i++)
		if (is_kept(&t->code[i])) {
			n++;
			cycles += t->code[i].stated.latency;
			stall += t->code[i].stated.stall;
		}
	if (cycles == 0 || stall == 0)
		return err_set(e, INCORE_BAD_INPUT, "no-cycles",
			"%s: no executed instruction with stall: the legacy report divides by it",
			arg);
	sb_puts(out, "\nLoading: ");
	sb_plain(out, str_of(arg));
	sb_puts(out, "\n\n  Kernel:        ");
	sb_plain(out, str_of(slash ? slash + 1 : arg));
	sb_puts(out, "\n  Instructions:  ");
	sb_put_u64(out, n);
	sb_puts(out, "\n  Total cycles:  ");
	flydsl_hotspot_put_cycles(out, cycles, 0);
	sb_puts(out, "\n  Total stalls:  ");
	flydsl_hotspot_put_cycles(out, stall, 0);
	sb_printf(out, "  (%.1f%% of total cycles)\n", percent(stall, cycles));
	put_registers(t, out);
	put_types(t, stall, out);
	if (o->with_lines && !flydsl_hotspot_put_lines(t, stall, o->top, out))
		return err_nomem(e);
	if (o->with_asm && !put_asm(t, stall, o->top, out))
		return err_nomem(e);
	sb_putc(out, '\n');
	return !out->failed || err_nomem(e);
}
