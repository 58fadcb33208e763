/* SPDX-License-Identifier: Apache-2.0 */
/* before.c: counters against the list of the agents; debug info in the code objects of a program. */
#include "capture/before.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "codec/elf.h"
#include "run/job.h"

#define ASK_MS 60000
#define MAX_NAME 96u
#define ALIKE 3u /* names that are suggested */

/* --- counters --------------------------------------------------------------------------------- */

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Every word of the list that looks like a counter or a metric. */
static bool gather_names(struct str text, struct intern *names)
{
	for (size_t i = 0; i < text.n;) {
		size_t n = 0;

		while (i + n < text.n && is_name_char(text.p[i + n]))
			n++;
		if (n > 2 && n < MAX_NAME && isupper((unsigned char)text.p[i]) &&
			intern_add(names, (struct str){text.p + i, n}) == INTERN_NONE)
			return false;
		i += n ? n : 1;
	}
	return true;
}

/* Edits between two names, case not counted. */
static unsigned edits(struct str a, struct str b)
{
	unsigned row[MAX_NAME + 1];

	for (unsigned k = 0; k <= b.n; k++)
		row[k] = k;
	for (unsigned i = 1; i <= a.n; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned k = 1; k <= b.n; k++) {
			unsigned up = row[k], cost = toupper((unsigned char)a.p[i - 1]) !=
						     toupper((unsigned char)b.p[k - 1]);
			unsigned best = diagonal + cost;

			best = up + 1 < best ? up + 1 : best;
			row[k] = row[k - 1] + 1 < best ? row[k - 1] + 1 : best;
			diagonal = up;
		}
	}
	return row[b.n];
}

static bool refuse_counter(struct str name, const struct intern *known, struct incore_error *e)
{
	struct strbuf like = {0};
	bool taken[ALIKE] = {false};
	uint32_t best[ALIKE];
	unsigned n = 0;

	for (; n < ALIKE; n++) {
		unsigned least = (unsigned)name.n / 3 + 1;

		best[n] = INTERN_NONE;
		for (uint32_t i = 0; i < known->n; i++) {
			unsigned d = edits(name, known->strs[i]);
			bool is_new = true;

			for (unsigned k = 0; k < n; k++)
				is_new &= best[k] != i;
			if (is_new && d < least) {
				least = d;
				best[n] = i;
			}
		}
		if (best[n] == INTERN_NONE)
			break;
		taken[n] = true;
	}
	for (unsigned k = 0; k < n && taken[k]; k++)
		sb_printf(&like, "%s%.*s", k ? ", " : "; like it: ", STR_ARG(known->strs[best[k]]));
	err_set(e, INCORE_USAGE, "unknown-counter",
		"no agent has a counter %.*s%s (rocprofv3 --list-avail lists them)", STR_ARG(name),
		like.p ? like.p : "");
	sb_free(&like);
	return false;
}

/* "SQ_WAVES:0xf" and "TCC_HIT[0]" are of SQ_WAVES and TCC_HIT. */
static struct str bare_name(struct str s)
{
	size_t n = 0;

	while (n < s.n && is_name_char(s.p[n]))
		n++;
	return str_sub(s, 0, n);
}

static bool next_counter(const char **p, struct str *name)
{
	*p += strspn(*p, ", \t\n");
	*name = (struct str){*p, strcspn(*p, ", \t\n")};
	*p += name->n;
	return name->n > 0;
}

static bool check_trace_counters(const char *names, struct incore_error *e)
{
	struct str name;
	unsigned n = 0;

	for (const char *p = names; next_counter(&p, &name); n++)
		if (!str_starts(name, "SQ_"))
			return err_set(e, INCORE_USAGE, "bad-option-value",
				"--counters: a thread trace streams counters of the SQ alone, not %.*s (capture pmc takes others)",
				STR_ARG(name));
	if (n >= 1 && n <= ATT_COUNTERS_MOST)
		return true;
	return err_set(e, INCORE_USAGE, "bad-option-value",
		"--counters: a thread trace streams 1 to %u counters, not %u", ATT_COUNTERS_MOST,
		n);
}

static bool compare_names(const char *names, struct str list, struct incore_error *e)
{
	struct intern known;
	struct str name;
	bool ok;

	intern_init(&known);
	ok = gather_names(list, &known) || err_nomem(e);
	for (const char *p = names; ok && known.n && next_counter(&p, &name);)
		if (bare_name(name).n < MAX_NAME &&
			intern_find(&known, bare_name(name)) == INTERN_NONE)
			ok = refuse_counter(bare_name(name), &known, e);
	intern_deinit(&known);
	return ok;
}

bool before_check_counters(const struct rocprof *tool, const char *names, bool in_trace,
	bool is_dry, struct arena *a, struct incore_error *e)
{
	struct strbuf list = {0};
	struct job j = {.name = "list-avail",
		.argv = (const char *const[]){tool->path, "--list-avail", NULL},
		.limit_ms = ASK_MS,
		.output = &list};
	struct job_result r;
	bool ok = true;

	(void)a;
	if (in_trace && !check_trace_counters(names, e))
		return false;
	if (is_dry || !rocprof_has(tool, "--list-avail"))
		return true;
	if (!job_run(&j, &r, e))
		return false;
	if (!job_exit_status(&r.process) && list.n)
		ok = compare_names(names, (struct str){list.p, list.n}, e);
	job_result_deinit(&r);
	sb_free(&list);
	return ok;
}

/* --- source lines ----------------------------------------------------------------------------- */

#define MOST_IMAGES 64u
#define ELF_HEADER 64u

/* Counts the code objects for AMD GPUs inside a file, and those with debug info. */
static void count_images(struct str file, struct arena *a, unsigned *n, unsigned *n_lines)
{
	const char *at = file.p, *end = file.p + file.n;

	while (*n < MOST_IMAGES && (at = memmem(at, (size_t)(end - at), "\177ELF", 4)) != NULL &&
		(size_t)(end - at) > ELF_HEADER) {
		struct incore_error ignored = {0};
		struct elf_image x;

		if ((uint8_t)at[18] == ELF_MACHINE_AMDGPU && !at[19] &&
			elf_open(&x, (struct str){at, (size_t)(end - at)}, "", a, &ignored)) {
			++*n;
			*n_lines += elf_section_named(&x, ".debug_line") != NULL;
		}
		incore_error_clear(&ignored);
		at += 4;
	}
}

static bool is_set(const char *name)
{
	const char *v = getenv(name);

	return v && *v && strcmp(v, "0") != 0 && strcasecmp(v, "false") != 0;
}

static bool speaks_of_flydsl(const char *const *app)
{
	for (; *app; app++)
		if (strcasestr(*app, "flydsl"))
			return true;
	for (char **v = environ; *v; v++)
		if (strncmp(*v, "FLYDSL_", 7) == 0)
			return true;
	return false;
}

const char *before_no_lines(const char *const *app, struct arena *a, bool *failed)
{
	char *path = app[0] ? process_find(app[0]) : NULL;
	struct incore_error ignored = {0};
	struct file_data f = {0};
	unsigned n = 0, n_lines = 0;
	const char *text = NULL;

	if (is_set("TRITON_DISABLE_LINE_INFO"))
		text = "TRITON_DISABLE_LINE_INFO is set: kernels of Triton will have no source lines; unset it";
	else if (speaks_of_flydsl(app) && !is_set("FLYDSL_DEBUG_ENABLE_DEBUG_INFO"))
		text = "kernels of FlyDSL will have no source lines: set FLYDSL_DEBUG_ENABLE_DEBUG_INFO=1 and give a new FLYDSL_RUNTIME_CACHE_DIR, since cached kernels are not built again";
	else if (path && file_load(&f, path, &ignored)) {
		count_images((struct str){(const char *)f.data, f.size}, a, &n, &n_lines);
		if (n && !n_lines) {
			text = arena_printf(a,
				"none of the %u code objects in %s has debug info: its kernels will have no source lines; build with -g or -gline-tables-only",
				n, path);
			*failed |= !text;
		}
	}
	file_unload(&f);
	incore_error_clear(&ignored);
	mem_free(path);
	return text;
}
