/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_compile.c: compiles a kernel to a library that records it, or takes it from the cache, and
 * likewise the program that loads it. A library's name is the hash of its source, its options, the
 * compiler and the recorder; beside it is a list of the included files with hashes, so that a
 * changed header causes recompilation. Parts: what the compiler says; what the compiler may access;
 * libraries and their cache.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process.h"
#include "model/record/record_internal.h"

/* --- what the compiler says ------------------------------------------------------------------- */

/*
 * Reduces a compiler's output to the essentials: the first error, how many, which name is missing.
 */

/* The quoted word after `before` on an error line. */
static struct str quoted(struct str line, const char *before)
{
	ptrdiff_t at = str_find(line, before);
	struct str rest, word;

	if (at < 0)
		return (struct str){0};
	rest = str_sub(line, (size_t)at + strlen(before), line.n);
	if (!str_cut(&rest, "'", &word) || !rest.p)
		return (struct str){0};
	return word;
}

/* The first quoted word of a line that contains `what`. */
static struct str first_quoted(struct str line, const char *what)
{
	struct str rest = line, word;

	if (!str_has(line, what))
		return (struct str){0};
	if (!str_cut(&rest, "'", &word) || !str_cut(&rest, "'", &word) || !rest.p)
		return (struct str){0};
	return word;
}

/* Not every system distinguishes a missing file from one that the compiler may not read. */
static bool is_out_of_reach(struct str line)
{
	return str_has(line, "No such file") || str_has(line, "file not found") ||
	       str_has(line, "Permission denied");
}

static struct str missing_header(struct str line)
{
	ptrdiff_t at = str_find(line, "fatal error: ");
	struct str rest, word;

	if (at < 0)
		return (struct str){0};
	rest = str_sub(line, (size_t)at + strlen("fatal error: "), line.n);
	if (str_starts(rest, "'"))
		return quoted(rest, "'");
	if (!is_out_of_reach(rest) || !str_cut(&rest, ":", &word))
		return (struct str){0};
	return word;
}

static struct str missing_name(struct str line)
{
	static const char *const BEFORE[] = {"use of undeclared identifier '",
		"unknown type name '", "no member named '", "has no member named '",
		"no template named '", "undefined reference to `", "no type named '"};
	static const char *const FIRST[] = {"was not declared", "does not name a type",
		"has not been declared", "is not a member of"};
	struct str word = missing_header(line);

	for (size_t i = 0; !word.n && i < sizeof(BEFORE) / sizeof(BEFORE[0]); i++)
		word = quoted(line, BEFORE[i]);
	for (size_t i = 0; !word.n && i < sizeof(FIRST) / sizeof(FIRST[0]); i++)
		word = first_quoted(line, FIRST[i]);
	return word;
}

static bool is_error(struct str line)
{
	return str_has(line, "error: ") || str_has(line, "undefined reference");
}

/* Reduces a compiler's output to its first errors and the names they report as missing. */
static bool record_explain(const char *text, const char *source, struct incore_error *e)
{
	struct str rest = str_of(text), line, first = {0}, name = {0};
	unsigned n = 0;

	while (str_cut(&rest, "\n", &line)) {
		if (!is_error(line))
			continue;
		n++;
		if (!first.p)
			first = str_sub(str_trim(line), 0, 300);
		if (!name.n)
			name = str_sub(missing_name(line), 0, 80);
	}
	if (str_is(name, "kernel_entry"))
		return err_file(e, "no-entry", source, INCORE_NO_OFFSET,
			"it has no function kernel_entry(int64_t *args)");
	if (!first.p)
		first = str_sub(str_trim(str_of(text)), 0, 300);
	err_set(e, INCORE_BAD_INPUT, "does-not-compile", "%.*s", STR_ARG(first));
	if (name.n && is_out_of_reach(first))
		return err_wrap(e,
			"%s does not compile (%u error%s): '%.*s' is not where its compiler may read: the kernel's folder and those of --include, no other files of yours",
			source, n, n == 1 ? "" : "s", STR_ARG(name));
	if (name.n)
		return err_wrap(e, "%s does not compile (%u error%s): '%.*s' is missing", source, n,
			n == 1 ? "" : "s", STR_ARG(name));
	return err_wrap(e, "%s does not compile (%u error%s)", source, n, n == 1 ? "" : "s");
}

/* --- what the compiler may access ------------------------------------------------------------- */

/*
 * What may the compiler of a kernel's source access? The toolchain, the folder of the kernel, the
 * given header folders, and its own work folder. A source can name any file (#include, .incbin) and
 * make its text part of a message or of the program, so everything that is not needed is
 * unreadable.
 */

#define MAX_FILE (UINT64_C(1) << 30)

/* What the compiler of one unit may access, and its environment. */
typedef VEC(const char *) record_paths; /* finally ended by a NULL */

/* path NULL: out of memory. */
static bool record_compile_add_path(record_paths *to, const char *path)
{
	return path && VEC_PUSH(to, path);
}

struct record_fence {
	struct arena *arena; /* the tools' */
	record_paths programs, readable, writable, env;
	struct walls walls;
	char *work_dir; /* in the cache; removed with the fence */
	bool is_open;	/* record_options.is_unsafe */
};

/* Adds the folder of a source; for kernels/aiv/k.cpp also the one above, where kernels share
 * headers. */
static bool add_folder(struct record_fence *f, const char *source)
{
	int n = (int)(path_base(source) - source);
	const char *dir = arena_printf(f->arena, "%.*s.", n, source);
	char *real = dir ? realpath(dir, NULL) : NULL;
	enum kernel_core core = KERNEL_ON_ANY;
	bool ok = record_compile_add_path(&f->readable, dir); /* also as named: links on the way */

	if (real)
		ok = record_compile_add_path(&f->readable, arena_printf(f->arena, "%s", real));
	if (real && kernel_core_of(str_of(path_base(real)), &core) && core != KERNEL_ON_ANY)
		ok = ok &&
		     record_compile_add_path(&f->readable, arena_printf(f->arena, "%s/..", real));
	free(real);
	return ok;
}

/* Adds the folder of a file, and of the file it links to. */
static bool add_folders(struct record_fence *f, const char *source)
{
	char *real = realpath(source, NULL);
	bool ok = add_folder(f, source) && (!real || add_folder(f, real));

	free(real);
	return ok;
}

/* A compiler outside the system's folders has its own tree, PREFIX/bin/g++; if PREFIX is the home
 * directory, only the program itself is added. */
static bool add_toolchain(struct record_fence *f, const char *compiler)
{
	char *real = realpath(compiler, NULL), *slash;
	char *home = getenv("HOME") ? realpath(getenv("HOME"), NULL) : NULL;
	bool ok = record_compile_add_path(&f->programs, compiler);

	for (unsigned up = 0; real && up < 2; up++)
		if ((slash = strrchr(real, '/')) != NULL)
			*slash = '\0';
	if (ok && real && *real && (!home || strcmp(real, home) != 0))
		ok = record_compile_add_path(&f->programs, arena_printf(f->arena, "%s", real));
	free(home);
	free(real);
	return ok;
}

/* Is the folder within one whose programs may be run? */
static bool is_of_toolchain(const struct record_fence *f, const char *dir)
{
	char *real = *dir == '/' ? realpath(dir, NULL) : NULL;
	bool is_inside = false;

	for (size_t i = 0; real && !is_inside && i < f->programs.n; i++) {
		char *top = realpath(f->programs.v[i], NULL);
		size_t n = top ? strlen(top) : 0;

		is_inside = top && strncmp(real, top, n) == 0 && (!real[n] || real[n] == '/');
		free(top);
	}
	free(real);
	return is_inside;
}

/* Passes on, from a list of folders in our environment, those from which it may run programs; a
 * toolchain outside the system needs them, and others could inject foreign code. */
static bool add_list(struct record_fence *f, const char *name)
{
	const char *value = getenv(name), *kept = "", *dir;
	struct str rest = str_of(value ? value : ""), part;

	while (kept && rest.n && str_cut(&rest, ":", &part)) {
		dir = arena_strndup(f->arena, part.p ? part.p : "", part.n);
		if (!dir)
			return false;
		if (is_of_toolchain(f, dir))
			kept = arena_printf(f->arena, "%s%s%s", kept, *kept ? ":" : "", dir);
	}
	return kept && (!*kept || record_compile_add_path(
					  &f->env, arena_printf(f->arena, "%s=%s", name, kept)));
}

/* Passes no variables that locate parts of a compiler (COMPILER_PATH, CPATH): use --include and the
 * compiler's own prefix. */
static bool add_environment(struct record_fence *f)
{
	bool ok =
		record_compile_add_path(&f->env, "LC_ALL=C") &&
		record_compile_add_path(
			&f->env, "CCACHE_DISABLE=1") && /* only our cache is written */
		record_compile_add_path(&f->env, arena_printf(f->arena, "TMPDIR=%s", f->work_dir));

	if (!f->is_open) /* else these go on top of all of ours */
		ok = ok &&
		     record_compile_add_path(
			     &f->env, arena_printf(f->arena, "HOME=%s", f->work_dir)) &&
		     add_list(f, "PATH") && add_list(f, "LD_LIBRARY_PATH");
	return ok && VEC_PUSH(&f->env, (const char *)NULL);
}

static bool add_places(struct record_fence *f, struct record_tools *t, const struct record_unit *u,
	const struct record_options *o)
{
	/* in the source tree this one is a link */
	const char *shared = arena_printf(f->arena, "%s/incore/opstream_types.h", t->recorder_dir);
	bool ok = shared && add_folders(f, shared) &&
		  record_compile_add_path(&f->readable, t->recorder_dir) &&
		  record_compile_add_path(&f->readable, t->cache_dir) &&
		  add_folders(f, u->source) && (!o->wrapped || add_folders(f, o->wrapped)) &&
		  record_compile_add_path(&f->writable, f->work_dir) &&
		  record_compile_add_path(&f->writable, "/dev/null");

	for (size_t i = 0; ok && walls_system[i]; i++)
		ok = record_compile_add_path(&f->programs, walls_system[i]);
	for (size_t i = 0; ok && i < o->n_include_dirs; i++)
		ok = record_compile_add_path(&f->readable, o->include_dirs[i]);
	return ok && add_environment(f);
}

static bool record_fence_init(struct record_fence *f, struct record_tools *t,
	const struct record_unit *u, const struct record_options *o, struct incore_error *e)
{
	char *name = arena_printf(&t->arena, "%s/work-XXXXXX", t->cache_dir);

	*f = (struct record_fence){.arena = &t->arena, .is_open = o->is_unsafe};
	if (!name)
		return err_nomem(e);
	f->work_dir = mkdtemp(name);
	if (!f->work_dir)
		return err_errno(e, errno, t->cache_dir, "write");
	leftover_add(f->work_dir, false);
	if (!add_toolchain(f, t->compiler) || !add_places(f, t, u, o) ||
		!VEC_PUSH(&f->programs, (const char *)NULL) ||
		!VEC_PUSH(&f->readable, (const char *)NULL) ||
		!VEC_PUSH(&f->writable, (const char *)NULL))
		return err_nomem(e);
	f->walls = (struct walls){.programs = f->programs.v,
		.readable = f->readable.v,
		.writable = f->writable.v,
		.file_bytes = MAX_FILE};
	return true;
}

static void record_fence_deinit(struct record_fence *f)
{
	if (f->work_dir) {
		remove_tree(f->work_dir);
		leftover_drop(f->work_dir);
	}
	VEC_FREE(&f->programs);
	VEC_FREE(&f->readable);
	VEC_FREE(&f->writable);
	VEC_FREE(&f->env);
}

/* --- libraries and their cache ---------------------------------------------------------------- */

#define COMPILE_LIMIT_S 600 /* wall clock time, on a possibly busy machine */
#define COMPILE_MEMORY (UINT64_C(3) << 30)
#define MAX_MESSAGE (1u << 20)

struct command {
	VEC(const char *) v;
};

static bool word(struct command *c, const char *text)
{
	return text && VEC_PUSH(&c->v, text);
}

/* Runs the compiler; *text receives its output. False: it could not be run, or it failed
 * (is_refusal). */
static bool run_compiler(struct command *c, struct record_fence *f, unsigned limit_s,
	struct strbuf *text, bool *is_refusal, struct incore_error *e)
{
	struct process_spec spec = {.env = f->env.v,
		.is_env_whole = !f->is_open,
		.walls = f->is_open ? NULL : &f->walls,
		.output = text,
		.max_output_bytes = MAX_MESSAGE,
		.limit_ms = (limit_s ? limit_s : COMPILE_LIMIT_S) * 1000ull,
		.memory_bytes = COMPILE_MEMORY};
	struct process_result r;

	*is_refusal = false;
	f->walls.cpu_s = spec.limit_ms / 1000;
	if (!VEC_PUSH(&c->v, (const char *)NULL))
		return err_nomem(e);
	spec.argv = c->v.v;
	if (!process_run(&spec, &r, e))
		return err_wrap(e, "cannot run %s", c->v.v[0]);
	if (r.end == PROCESS_TIMED_OUT)
		return err_set(e, INCORE_BAD_INPUT, "too-long",
			"the compiler did not end within %llu s",
			(unsigned long long)(spec.limit_ms / 1000));
	if (r.end == PROCESS_NOT_STARTED)
		return err_set(e, INCORE_MISSING, "no-compiler", "cannot start %s: %s", c->v.v[0],
			strerror(r.code));
	*is_refusal = r.end != PROCESS_EXITED || r.code != 0;
	return !*is_refusal;
}

static const char *in_cache(
	struct record_tools *t, const char *kind, struct hash128 key, const char *suffix)
{
	return arena_printf(&t->arena, "%s/%s-%016llx%016llx%s", t->cache_dir, kind,
		(unsigned long long)key.hi, (unsigned long long)key.lo, suffix);
}

/* A compiler may only write into its work folder. */
static const char *scratch_name(const struct record_fence *f, const char *path)
{
	return arena_printf(f->arena, "%s/%s", f->work_dir, path_base(path));
}

static bool record_compile_put_in_place(const char *from, const char *to, struct incore_error *e)
{
	if (chmod(from, 0700) == 0 && rename(from, to) == 0) /* a linker may set no modes */
		return true;
	return err_output(e, errno, to, "cannot write");
}

/* Adds the options for every kernel on this kind of core. The recorder's headers are included as
 * system headers, so they are not listed as dependencies: the seed covers them. */
static bool add_base(struct command *c, const struct record_unit *u, const struct record_options *o,
	struct record_tools *t)
{
	return word(c, "-std=c++20") && word(c, "-O0") && word(c, "-w") && word(c, "-pipe") &&
	       word(c, "-fPIC") && word(c, "-fvisibility=hidden") && word(c, "-D__aicore__=") &&
	       word(c, "-D__gm__=") &&
	       word(c, u->core == CORE_AIC ? "-D__DAV_CUBE__" : "-D__DAV_VEC__") &&
	       word(c, o->arch == ARCH_A5 ? "-DPTO_NPU_ARCH_A5" : "-DPTO_NPU_ARCH_A2A3") &&
	       word(c, "-isystem") && word(c, t->recorder_dir);
}

/* Adds each as one word with its option: as a separate word, "@file" would be a file of options. */
static bool record_compile_add_given(
	struct command *c, const struct record_options *o, struct arena *a)
{
	bool ok = true;

	for (size_t i = 0; i < o->n_defines; i++)
		ok = ok && word(c, arena_printf(a, "-D%s", o->defines[i]));
	for (size_t i = 0; i < o->n_include_dirs; i++)
		ok = ok && word(c, arena_printf(a, "-I%s", o->include_dirs[i]));
	return ok;
}

/* --- our own parts, once per compiler and recorder --- */

struct part {
	const char *kind, *suffix, *source;
	const char *options[5];
};
static const struct part DRIVER = {
	"driver", ".o", "driver.cpp", {"-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-c"}};
/* loads a kernel's libraries with it: they cannot be opened behind its walls */
static const struct part RUNNER = {
	"runner", "", "runner.cpp", {"-std=c++17", "-O2", "-Wl,--no-as-needed", "-ldl"}};

static bool compile_part(struct record_tools *t, struct record_fence *f, const struct part *p,
	const char *target, struct incore_error *e)
{
	struct command c = {0};
	struct strbuf text = {0};
	const char *tmp = scratch_name(f, target);
	const char *source = arena_printf(f->arena, "%s/%s", t->recorder_dir, p->source);
	bool is_refusal = false, ok = tmp && source && word(&c, t->compiler) && word(&c, "-w");

	for (size_t i = 0; ok && i < sizeof(p->options) / sizeof(p->options[0]); i++)
		ok = !p->options[i] || word(&c, p->options[i]);
	ok = ok && word(&c, "-I") && word(&c, t->recorder_dir) && word(&c, "-o") && word(&c, tmp) &&
	     word(&c, source);
	ok = ok ? run_compiler(&c, f, 0, &text, &is_refusal, e) &&
			     record_compile_put_in_place(tmp, target, e)
		: err_nomem(e);
	if (is_refusal) {
		record_explain(text.p ? text.p : "", source, e);
		if (e)
			e->status = INCORE_FAILED; /* not the kernel's fault */
	}
	VEC_FREE(&c.v);
	sb_free(&text);
	return ok;
}

static const char *find_part(struct record_tools *t, struct record_fence *f, const struct part *p,
	struct incore_error *e)
{
	const char *target = in_cache(t, p->kind, t->seed, p->suffix);

	if (!target)
		err_nomem(e);
	else if (file_exists(target) || compile_part(t, f, p, target, e))
		return target;
	else
		err_wrap(e, "the recorder's %s", p->kind);
	return NULL;
}

/* --- the headers, once per kind of core --- */

/* Writes a header that includes them all, and beside it the precompiled form that compilers look
 * for. */
static bool compile_headers(struct record_tools *t, struct record_fence *f,
	const struct command *options, const char *header, const char *compiled)
{
	static const char TEXT[] = "#include \"pto/pto-inst.hpp\"\n";
	struct command c = {0};
	struct strbuf text = {0};
	struct out_file o = {0};
	const char *tmp = scratch_name(f, compiled);
	bool is_refusal, ok;

	ok = tmp && out_file_open(&o, header, NULL) && fputs(TEXT, o.f) >= 0 &&
	     out_file_commit(&o, NULL) && word(&c, t->compiler);
	for (size_t i = 0; ok && i < options->v.n; i++)
		ok = word(&c, options->v.v[i]);
	ok = ok && word(&c, "-x") && word(&c, "c++-header") && word(&c, "-o") && word(&c, tmp) &&
	     word(&c, header) && run_compiler(&c, f, 0, &text, &is_refusal, NULL) &&
	     record_compile_put_in_place(tmp, compiled, NULL);
	out_file_abort(&o);
	VEC_FREE(&c.v);
	sb_free(&text);
	return ok;
}

/* A precompiled header to be included first, or NULL: then compilation is only slower. */
static const char *find_headers(
	struct record_tools *t, struct record_fence *f, const struct command *options)
{
	struct hash_stream h;
	const char *header, *compiled;

	hash_stream_init(&h);
	hash_stream_add(&h, &t->seed, sizeof(t->seed));
	for (size_t i = 0; i < options->v.n; i++)
		hash_stream_add(&h, options->v.v[i], strlen(options->v.v[i]) + 1);
	header = in_cache(t, "headers", hash_stream_end(&h), ".hpp");
	compiled = header ? arena_printf(f->arena, "%s.gch", header) : NULL;
	if (compiled && ((file_exists(compiled) && file_exists(header)) ||
				compile_headers(t, f, options, header, compiled)))
		return header;
	return NULL;
}

/* --- dependencies of a program --- */

static bool hash_file(const char *path, struct hash128 *out)
{
	struct file_data f = {0};
	struct hash_stream h;

	if (!file_load(&f, path, NULL))
		return false;
	hash_stream_init(&h);
	hash_stream_add(&h, f.data, f.size);
	*out = hash_stream_end(&h);
	file_unload(&f);
	return true;
}

/* Lines "hash path"; true if all are as they were. */
static bool is_current(const char *list)
{
	struct file_data f = {0};
	struct str rest, line, hash;
	bool ok;

	if (!file_load(&f, list, NULL))
		return false;
	rest = (struct str){(const char *)f.data, f.size};
	ok = true;
	while (ok && str_cut(&rest, "\n", &line)) {
		char found[40], *path;
		struct hash128 h;

		if (line.n == 0 || !str_cut(&line, " ", &hash))
			continue;
		path = mem_strndup(line.p ? line.p : "", line.n);
		ok = path && hash_file(path, &h);
		snprintf(found, sizeof(found), "%016llx%016llx", ok ? (unsigned long long)h.hi : 0,
			ok ? (unsigned long long)h.lo : 0);
		ok = ok && str_is(hash, found);
		mem_free(path);
	}
	file_unload(&f);
	return ok;
}

/* Reads one name of a make rule, up to an unescaped blank. */
static bool next_name(const char **p, const char *end, struct strbuf *out)
{
	sb_reset(out);
	while (*p < end && strchr(" \t\r\n\\", **p) &&
		!(**p == '\\' && *p + 1 < end && (*p)[1] == ' '))
		(*p)++;
	while (*p < end && !strchr(" \t\r\n", **p)) {
		if (**p == '\\' && *p + 1 < end)
			(*p)++;
		sb_putc(out, *(*p)++);
	}
	return out->n != 0;
}

/* Converts the compiler's make rule to our list; omits files in the cache, which are not the
 * kernel's, and the unit itself, which is in the key. */
static bool record_compile_write_list(const char *rule, const char *list, struct record_tools *t,
	const char *source, struct incore_error *e)
{
	struct file_data f = {0};
	struct out_file o = {0};
	struct strbuf name = {0};
	const char *p, *end;
	bool ok;

	if (!file_load(&f, rule, e) || !out_file_open(&o, list, e)) {
		file_unload(&f);
		return false;
	}
	end = (const char *)f.data + f.size;
	p = memchr(f.data, ':', f.size);
	for (p = p ? p + 1 : end; next_name(&p, end, &name);) {
		struct hash128 h;

		if (!str_starts(str_of(name.p), t->cache_dir) && strcmp(name.p, source) != 0 &&
			hash_file(name.p, &h))
			fprintf(o.f, "%016llx%016llx %s\n", (unsigned long long)h.hi,
				(unsigned long long)h.lo, name.p);
	}
	ok = !name.failed || err_nomem(e);
	ok = ok && out_file_commit(&o, e);
	out_file_abort(&o);
	sb_free(&name);
	file_unload(&f);
	return ok;
}

/* --- the kernel --- */

static struct hash128 key_of(struct record_tools *t, const struct record_unit *u,
	const struct command *options, const struct record_options *o)
{
	struct hash_stream h;

	hash_stream_init(&h);
	hash_stream_add(&h, &t->seed, sizeof(t->seed));
	for (size_t i = 0; i < options->v.n; i++)
		hash_stream_add(&h, options->v.v[i], strlen(options->v.v[i]) + 1);
	hash_stream_add(&h, &o->is_unsafe, sizeof(o->is_unsafe)); /* it may hold any file */
	if (!o->wrapped)
		hash_stream_add(&h, u->source, strlen(u->source) + 1); /* sites name it */
	hash_stream_add(&h, u->text.data, u->text.size);
	return hash_stream_end(&h);
}

/* The files of a compilation. */
struct names {
	const char *driver, *headers, *program, *rule;
};

static bool find_names(struct names *n, struct record_unit *u, struct record_tools *t,
	const struct record_options *o, struct record_fence *f, struct incore_error *e)
{
	struct command base = {0};

	u->runner = find_part(t, f, &RUNNER, e);
	n->driver = u->runner ? find_part(t, f, &DRIVER, e) : NULL;
	if (!n->driver)
		return false;
	if (add_base(&base, u, o, t))
		n->headers = find_headers(t, f, &base);
	VEC_FREE(&base.v);
	n->program = scratch_name(f, u->program);
	n->rule = scratch_name(f, "rule");
	return (n->program && n->rule) || err_nomem(e);
}

/* A name that no compiler mistakes for an option or a file of options. */
static const char *record_compile_plain_name(const struct record_fence *f, const char *source)
{
	return *source == '-' || *source == '@' ? arena_printf(f->arena, "./%s", source) : source;
}

/* Links a library without undefined names, like a program. */
static bool add_unit(struct command *c, const struct record_unit *u, const struct names *n,
	const struct record_fence *f)
{
	return (!n->headers || (word(c, "-include") && word(c, n->headers))) && word(c, "-MMD") &&
	       word(c, "-MF") && word(c, n->rule) && word(c, "-shared") && word(c, "-Wl,-z,defs") &&
	       word(c, "-o") && word(c, n->program) && word(c, "-x") && word(c, "c++") &&
	       word(c, record_compile_plain_name(f, u->source)) && word(c, "-x") &&
	       word(c, "none") && word(c, n->driver);
}

static bool record_compile_compile(struct record_unit *u, struct record_tools *t,
	struct command *options, const struct record_options *o, const char *list,
	struct incore_error *e)
{
	struct record_fence f;
	struct names n = {0};
	struct command c = {0};
	struct strbuf text = {0};
	bool is_refusal = false;
	bool ok = record_fence_init(&f, t, u, o, e) && find_names(&n, u, t, o, &f, e);

	if (ok) {
		ok = word(&c, t->compiler);
		for (size_t i = 0; ok && i < options->v.n; i++)
			ok = word(&c, options->v.v[i]);
		ok = ok && add_unit(&c, u, &n, &f)
			     ? run_compiler(&c, &f, o->compile_limit_s, &text, &is_refusal, e)
			     : err_nomem(e);
	}
	if (is_refusal)
		record_explain(text.p ? text.p : "", u->source, e);
	ok = ok && record_compile_write_list(n.rule, list, t, u->source, e) &&
	     record_compile_put_in_place(n.program, u->program, e);
	record_fence_deinit(&f);
	VEC_FREE(&c.v);
	sb_free(&text);
	return ok;
}

bool record_compile(struct record_unit *u, struct record_tools *t, const struct record_options *o,
	struct incore_error *e)
{
	struct command options = {0};
	struct hash128 key;
	uint64_t from_ns = clock_ns();
	const char *list = NULL;
	bool ok = add_base(&options, u, o, t) && record_compile_add_given(&options, o, &t->arena);

	if (ok) {
		key = key_of(t, u, &options, o);
		u->program = in_cache(t, "kernel", key, ".so");
		u->runner = in_cache(t, RUNNER.kind, t->seed, RUNNER.suffix);
		list = in_cache(t, "kernel", key, ".deps");
	}
	if (!ok || !u->program || !u->runner || !list) {
		ok = err_nomem(e);
	} else {
		u->was_cached =
			file_exists(u->program) && file_exists(u->runner) && is_current(list);
		if (u->was_cached)
			log_debug("model", "%s: its recorder is in the cache, %s", u->source,
				u->program);
		else
			log_info("model", "compiling %s for %s with %s", u->source,
				u->core == CORE_AIC ? "AIC" : "AIV", t->compiler);
		ok = u->was_cached || record_compile_compile(u, t, &options, o, list, e);
		u->compile_us = u->was_cached ? 0 : (clock_ns() - from_ns) / 1000;
	}
	VEC_FREE(&options.v);
	return ok;
}
