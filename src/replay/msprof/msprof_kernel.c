/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msprof_kernel.c: the translation unit that holds the kernel. Each member is included under the
 * macro of its core; two vector members share a unit, so each gets a namespace, its extern "C"
 * names are renamed, and its macros are undefined after it.
 */
#include "base/file.h"
#include "base/vec.h"
#include "replay/msprof/msprof.h"
#include "replay/source/source_text.h"

struct member_text {		/* properties of a source that matter when sharing a unit */
	struct str folder;	/* of the source */
	struct strbuf includes; /* its include lines */
	struct strbuf undefs;	/* "#undef N" for each macro it defines */
	struct strbuf masked;
};

/* Moves an include before the namespace, where the source's own folder is not searched: a header in
 * that folder gets its full path. A header of a branch not taken may be missing. */
static bool hoist_include(struct member_text *t, struct str target)
{
	struct strbuf path = {0};
	bool ok, is_beside;

	if (target.n < 2 || (target.p[0] != '"' && target.p[0] != '<'))
		return true;
	if (target.p[0] == '"') {
		ptrdiff_t end = str_find(str_sub(target, 1, target.n), "\"");

		sb_printf(&path, "%.*s/%.*s", STR_ARG(t->folder), (int)(end < 0 ? 0 : end),
			target.p + 1);
	}
	is_beside = path.p && file_exists(path.p) && !file_is_dir(path.p) &&
		    msprof_check_path(path.p, NULL);
	ok = !path.failed;
	if (ok && is_beside)
		ok = sb_printf(&t->includes, "#include \"%s\"\n", path.p);
	else if (ok)
		ok = sb_printf(&t->includes, "#if __has_include(%.*s)\n#include %.*s\n#endif\n",
			STR_ARG(target), STR_ARG(target));
	sb_free(&path);
	return ok;
}

static bool is_name(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static bool on_directive(void *ctx, struct str line)
{
	struct member_text *t = ctx;
	struct str rest;
	size_t n = 0;

	if (str_starts(line, "include"))
		return hoist_include(t, str_trim(str_sub(line, 7, line.n)));
	if (!str_starts(line, "define"))
		return true;
	rest = str_trim(str_sub(line, 6, line.n));
	while (n < rest.n && is_name(rest.p[n]))
		n++;
	return sb_printf(&t->undefs, "#undef %.*s\n", (int)n, rest.p);
}

static void member_text_free(struct member_text *t)
{
	sb_free(&t->includes);
	sb_free(&t->undefs);
	sb_free(&t->masked);
}

static bool read_member(const char *path, struct member_text *t, struct incore_error *e)
{
	struct source_macros hooks = {.on_directive = on_directive, .ctx = t};
	struct file_data f = {0};
	ptrdiff_t slash = str_rfind_char(str_of(path), '/');
	bool ok;

	t->folder = slash < 0 ? STR(".") : (struct str){path, (size_t)slash};
	ok = file_load(&f, path, e) &&
	     source_mask((struct str){(const char *)f.data, f.size}, path, &hooks, &t->masked, e);

	file_unload(&f);
	return ok && (!(t->includes.failed || t->undefs.failed) || err_nomem(e));
}

/* A path is quoted in C++, CMake and shell text: it must not contain anything that could end the
 * quotes. */
bool msprof_check_path(const char *path, struct incore_error *e)
{
	for (const char *p = path; *p; p++)
		if (strchr("\"\\$`;", *p) || (unsigned char)*p < 32)
			return err_file(e, "bad-path", path, INCORE_NO_OFFSET,
				"this path cannot stand in generated text: it has a quote, backslash, dollar sign, semicolon or control character");
	return true;
}

/* extern "C" names are not separated by a namespace, so they are renamed. extern "C" blocks are
 * refused. */
static bool rename_c_names(struct member_text *t, const char *path, unsigned member,
	struct strbuf *out, struct incore_error *e)
{
	struct str m = {t->masked.p, t->masked.n};
	size_t pos = 0;

	while (source_find_word(m, "extern", &pos)) {
		struct str rest = str_trim(str_sub(m, pos, m.n)), head;
		ptrdiff_t open, brace;
		size_t end;

		if (!rest.n || rest.p[0] != '"')
			continue;
		open = str_find(rest, "(");
		brace = str_find(rest, "{");
		if (brace >= 0 && (open < 0 || brace < open))
			return err_file(e, "shared-unit", path, INCORE_NO_OFFSET,
				"two vector sources share one unit, and this one has an extern \"C\" block: mark its functions one by one");
		head = str_trim(str_sub(rest, 0, open < 0 ? 0 : (size_t)open));
		end = head.n;
		while (end > 0 && is_name(head.p[end - 1]))
			end--;
		head = str_sub(head, end, head.n);
		if (!head.n || str_is(head, "kernel_entry"))
			continue;
		sb_printf(out, "#define %.*s incore_member_%u_%.*s\n", STR_ARG(head), member,
			STR_ARG(head));
		sb_printf(&t->undefs, "#undef %.*s\n", STR_ARG(head));
	}
	return !(out->failed || t->undefs.failed) || err_nomem(e);
}

static bool put_member(const struct replay_job *job, unsigned i, bool is_shared, struct strbuf *out,
	struct incore_error *e)
{
	const char *path = job->members[i].source;
	struct member_text t = {0};
	struct strbuf renames = {0};
	bool ok = msprof_check_path(path, e);

	if (ok && is_shared)
		ok = read_member(path, &t, e) && rename_c_names(&t, path, i, &renames, e);
	if (ok) {
		if (is_shared)
			sb_printf(out, "%snamespace incore_member_%u {\n%s",
				t.includes.p ? t.includes.p : "", i, renames.p ? renames.p : "");
		sb_printf(out,
			"#define kernel_entry incore_member_%u_entry\n#include \"%s\"\n"
			"#undef kernel_entry\n",
			i, path);
		if (is_shared)
			sb_printf(out,
				"} // namespace incore_member_%u\n%susing incore_member_%u::incore_member_%u_entry;\n",
				i, t.undefs.p ? t.undefs.p : "", i, i);
	}
	sb_free(&renames);
	member_text_free(&t);
	return ok;
}

static unsigned count_core(const struct replay_job *job, enum kernel_core core)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < job->n_members; i++)
		n += job->members[i].core == core;
	return n;
}

static bool put_core(const struct replay_job *job, enum kernel_core core, struct strbuf *out,
	struct incore_error *e)
{
	unsigned n = count_core(job, core);
	bool ok = true;

	if (!n)
		return true;
	sb_printf(
		out, "\n#if defined(%s)\n", core == KERNEL_ON_AIC ? "__DAV_CUBE__" : "__DAV_VEC__");
	for (uint32_t i = 0; ok && i < job->n_members; i++)
		if (job->members[i].core == core)
			ok = put_member(job, i, n > 1, out, e);
	sb_puts(out, "#endif\n");
	return ok;
}

static void put_prologue(const struct replay_job *job, struct strbuf *out)
{
	const struct cann_target *t = cann_target(job->target);

	sb_printf(out,
		"// Made by incore. The kernel under its recorded arguments: one row of %d slots a core.\n"
		"#ifndef __CCE_AICORE__\n#define __CCE_AICORE__ %u\n#endif\n"
		"#include <cstdint>\n"
		"#include <cce_aicore_intrinsics.h>\n" MSPROF_AICORE
		"#ifndef %s\n#define %s\n#endif\n"
		"#ifndef EVENT_ID7\n#define EVENT_ID7 ((event_t)7)\n#endif\n"
		"#ifndef PIPE_FIX\n#define PIPE_FIX ((pipe_t)10)\n#endif\n",
		ARG_SLOTS, t->cce_aicore, t->arch_macro, t->arch_macro);
}

/* Like -D, but after the vendor's headers: defined before any text of the kernel. */
static bool put_defines(const struct replay_job *job, struct strbuf *out, struct incore_error *e)
{
	for (size_t i = 0; i < job->n_defines; i++) {
		const char *word = job->defines[i];
		size_t n = 0;

		while (is_name(word[n]))
			n++;
		if (!n || (word[0] >= '0' && word[0] <= '9') || (word[n] && word[n] != '=') ||
			strpbrk(word, "\r\n"))
			return err_set(e, INCORE_USAGE, "bad-option-value",
				"--define: expected NAME or NAME=VALUE on one line, found '%s'",
				word);
		sb_printf(out, "#define %.*s %s\n", (int)n, word, word[n] ? word + n + 1 : "1");
	}
	return true;
}

unsigned msprof_lanes(const struct replay_job *job)
{
	unsigned n = count_core(job, KERNEL_ON_AIC) ? 2 : 1;

	for (uint32_t i = 0; i < job->n_members; i++)
		n = job->members[i].lanes & 2 ? 2 : n;
	return n;
}

/* A lane without a kernel in the task does nothing. */
static void put_vector_call(const struct replay_job *job, struct strbuf *out)
{
	sb_puts(out, "\tint64_t lane = get_subblockid();\n");
	if (msprof_lanes(job) == 1)
		sb_puts(out, "\tif (lane != 0)\n\t\treturn;\n");
	sb_printf(out, "\t__gm__ int64_t *row = (__gm__ int64_t *)aiv_rows + %s * %d;\n",
		msprof_lanes(job) == 1 ? "get_block_idx()"
				       : "(get_block_idx() * get_subblockdim() + lane)",
		ARG_SLOTS);
	for (uint32_t i = 0; i < job->n_members; i++) {
		if (job->members[i].core != KERNEL_ON_AIV)
			continue;
		if (msprof_lanes(job) > 1 && job->members[i].lanes != 3)
			sb_printf(out, "\tif (lane == %u)\n\t", job->members[i].lanes == 2);
		sb_printf(out, "\tincore_member_%u_entry(row);\n", i);
	}
}

bool msprof_kernel_text(const struct replay_job *job, struct strbuf *out, struct incore_error *e)
{
	put_prologue(job, out);
	if (!put_defines(job, out, e) || !put_core(job, KERNEL_ON_AIC, out, e) ||
		!put_core(job, KERNEL_ON_AIV, out, e))
		return false;
	sb_printf(out,
		"\nextern \"C\" __global__ __aicore__ void %s(__gm__ uint8_t *aic_rows, __gm__ uint8_t *aiv_rows)\n"
		"{\n\t(void)aic_rows;\n\t(void)aiv_rows;\n",
		MSPROF_SYMBOL);
	for (uint32_t i = 0; i < job->n_members; i++)
		if (job->members[i].core == KERNEL_ON_AIC)
			sb_printf(out,
				"#if defined(__DAV_CUBE__)\n\tincore_member_%u_entry((__gm__ int64_t *)aic_rows + get_block_idx() * %d);\n#endif\n",
				i, ARG_SLOTS);
	if (count_core(job, KERNEL_ON_AIV)) {
		sb_puts(out, "#if defined(__DAV_VEC__)\n");
		put_vector_call(job, out);
		sb_puts(out, "#endif\n");
	}
	sb_puts(out, "}\n");
	return !out->failed || err_nomem(e);
}
