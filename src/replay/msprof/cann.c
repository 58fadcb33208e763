/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cann.c: the script, its environment, the chips with a simulator. Parts: the probe; the toolkit.
 */
#include "replay/msprof/cann.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "base/search.h"

/* --- the probe -------------------------------------------------------------------------------- */

/* Can this CANN compile the tile language, and does its profiler have its worker? */

#define PROBE_LIMIT_MS 120000

static bool has(const struct strbuf *b, const char *words)
{
	return b->p && strstr(b->p, words);
}

static bool write_probe(const char *path, struct incore_error *e)
{
	struct out_file o = {0};

	if (!out_file_open(&o, path, e))
		return false;
	fputs("__biasbuf__ int *p;\n", o.f);
	return out_file_commit(&o, e);
}

/* Did the program run at all? Its exit status says little, so only failure to start and timeout
 * count. */
static bool has_run(const char *program, const struct process_result *r, struct incore_error *e)
{
	if (r->end == PROCESS_NOT_STARTED)
		return err_set(e, INCORE_MISSING, "not-started", "%s cannot be started: %s",
			program, strerror(r->code));
	return r->end != PROCESS_TIMED_OUT ||
	       err_set(e, INCORE_FAILED, "probe-failed", "%s did not answer within %d s", program,
		       PROBE_LIMIT_MS / 1000);
}

/* An old compiler does not know the address space; other errors are ignored. */
static bool probe_compiler(
	struct cann *c, const char *arch, const char *scratch, struct incore_error *e)
{
	const char *compiler = cann_program(c, "bisheng");
	char *source = arena_printf(&c->arena, "%s/probe_tile_language.cpp", scratch);
	char *arch_word = arena_printf(&c->arena, "--cce-aicore-arch=%s", arch);
	struct strbuf out = {0};
	struct process_result r;
	bool ok = true;

	if (!compiler)
		return err_set(e, INCORE_MISSING, "no-bisheng",
			"the compiler bisheng is not in the PATH that %s sets", c->set_env);
	if (!source || !arch_word)
		return err_nomem(e);
	if (!write_probe(source, e))
		return false;
	ok = process_run(&(struct process_spec){.argv = (const char *const[]){compiler, "-xcce",
							"--cce-aicore-enable-tl", arch_word, "-c",
							source, "-o", "/dev/null", NULL},
				 .env = c->env.v,
				 .output = &out,
				 .limit_ms = PROBE_LIMIT_MS},
		&r, e);
	unlink(source);
	ok = ok && has_run(compiler, &r, e);
	if (ok && has(&out, "__biasbuf__") && has(&out, "unknown type"))
		ok = err_set(e, INCORE_MISSING, "old-cann",
			"%s knows no tile language (__biasbuf__ is an unknown type to it): this CANN is too old, 8.5 or later is needed",
			compiler);
	sb_free(&out);
	return ok;
}

static bool find_worker(struct cann *c, struct incore_error *e)
{
	static const char *const PLACES[] = {"tools/msopprof", "tools/msopt"};
	struct strbuf looked = {0};

	for (size_t i = 0; i < 2; i++) {
		char *worker = arena_printf(&c->arena, "%s/%s/bin/msopprof", c->home, PLACES[i]);
		char *library = arena_printf(
			&c->arena, "%s/%s/lib64/libmsopprof_injection.so", c->home, PLACES[i]);

		if (!worker || !library) {
			sb_free(&looked);
			return err_nomem(e);
		}
		if (file_exists(worker) && file_exists(library)) {
			sb_free(&looked);
			return true;
		}
		sb_printf(&looked, "%s%s", looked.n ? ", " : "",
			file_exists(worker) ? library : worker);
	}
	err_set(e, INCORE_MISSING, "no-worker",
		"the worker of msprof's simulator is not complete in this CANN: looked for %s",
		looked.p ? looked.p : "");
	sb_free(&looked);
	return false;
}

static bool probe_profiler(struct cann *c, struct incore_error *e)
{
	static const char *const BAD[] = {
		"Cannot find msopprof", "does not exist or permission denied", "is soft link"};
	const char *msprof = cann_program(c, "msprof");
	struct strbuf out = {0};
	struct process_result r;
	bool ok;

	if (!msprof)
		return err_set(e, INCORE_MISSING, "no-msprof",
			"the profiler msprof is not in the PATH that %s sets", c->set_env);
	ok = process_run(&(struct process_spec){.argv = (const char *const[]){msprof, "op",
							"simulator", "--help", NULL},
				 .env = c->env.v,
				 .output = &out,
				 .limit_ms = PROBE_LIMIT_MS},
		&r, e);
	ok = ok && has_run(msprof, &r, e);
	for (size_t i = 0; ok && i < sizeof(BAD) / sizeof(*BAD); i++)
		if (has(&out, BAD[i]))
			ok = err_set(e, INCORE_MISSING, "no-worker",
				"\"msprof op simulator --help\" says \"%s\": its worker is missing or unusable",
				BAD[i]);
	if (ok && !(has(&out, "--application") && has(&out, "Options:")))
		ok = err_set(e, INCORE_MISSING, "no-worker",
			"\"msprof op simulator --help\" does not list its options: expected \"Options:\" and \"--application\", found \"%.200s\"",
			out.p ? out.p : "");
	sb_free(&out);
	return ok;
}

bool cann_probe(struct cann *c, const char *arch, const char *scratch, struct incore_error *e)
{
	return probe_compiler(c, arch, scratch, e) && find_worker(c, e) && probe_profiler(c, e);
}

/* --- the toolkit ------------------------------------------------------------------------------ */

#define ENV_LIMIT_MS 60000

static const struct cann_target TARGETS[] = {
	[ARCH_A2A3] = {"dav_2201", "dav-c220", 220, "PTO_NPU_ARCH_A2A3", {"910b", NULL}},
	[ARCH_A5] = {"dav_3510", "dav-c310", 310, "PTO_NPU_ARCH_A5", {"950", "a5"}},
};

const struct cann_target *cann_target(enum opstream_arch t)
{
	return &TARGETS[t];
}

void cann_deinit(struct cann *c)
{
	VEC_FREE(&c->env);
	VEC_FREE(&c->socs);
	arena_deinit(&c->arena);
}

/* A variable of its environment, or NULL. */
static const char *cann_env(const struct cann *c, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < c->env.n && c->env.v[i]; i++)
		if (strncmp(c->env.v[i], name, n) == 0 && c->env.v[i][n] == '=')
			return c->env.v[i] + n + 1;
	return NULL;
}

const char *cann_program(struct cann *c, const char *name)
{
	struct str rest = str_of(cann_env(c, "PATH")), dir;

	while (str_cut(&rest, ":", &dir)) {
		char *path = arena_printf(&c->arena, "%.*s/%s", STR_ARG(dir), name);

		if (path && dir.n && access(path, X_OK) == 0 && !file_is_dir(path))
			return path;
	}
	return NULL;
}

/* --- the script --- */

struct look { /* search for set_env.sh */
	struct cann *c;
	struct strbuf looked; /* searched places, for the message */
};

static bool try_script(struct look *l, const char *path)
{
	if (!path || l->c->set_env)
		return l->c->set_env != NULL;
	if (file_exists(path) && !file_is_dir(path)) {
		/* the shell would search a name without '/' in PATH */
		char *full = realpath(path, NULL);

		l->c->set_env = full ? arena_strdup(&l->c->arena, full) : NULL;
		free(full);
		if (l->c->set_env)
			return true;
	}
	sb_printf(&l->looked, "%s%s", l->looked.n ? ", " : "", path);
	return false;
}

static void try_home(struct look *l, const char *home)
{
	try_script(l, arena_printf(&l->c->arena, "%s/set_env.sh", home));
	try_script(l, arena_printf(&l->c->arena, "%s/../set_env.sh", home));
}

static void try_under(struct look *l, const char *root)
{
	static const char *const BELOW[] = {"ascend-toolkit", "ascend-toolkit/latest", "."};

	for (size_t i = 0; root && *root && i < 3; i++)
		try_script(
			l, i == 2 ? arena_printf(&l->c->arena, "%s/set_env.sh", root)
				  : arena_printf(&l->c->arena, "%s/%s/set_env.sh", root, BELOW[i]));
}

static bool find_script(struct cann *c, const struct cann_options *o, struct incore_error *e)
{
	struct look l = {.c = c};
	const char *home = getenv("ASCEND_HOME_PATH"), *user = getenv("HOME");
	const char *stated = o->set_env || o->home ? o->set_env : getenv("CANN_SET_ENV");

	if (stated && *stated) {
		try_script(&l, stated);
	} else if (o->home) {
		try_home(&l, o->home);
	} else {
		if (home && *home)
			try_home(&l, home);
		try_under(&l, "/usr/local/Ascend");
		if (user && *user)
			try_under(&l, arena_printf(&c->arena, "%s/Ascend", user));
		try_under(&l, "/opt/Ascend");
	}
	if (!c->set_env)
		err_set(e, INCORE_MISSING, "no-cann",
			"CANN is not installed here: no set_env.sh; looked at %s; name it with --cann-set-env or $CANN_SET_ENV, or replay with --backend model",
			l.looked.p ? l.looked.p : "nothing");
	sb_free(&l.looked);
	return c->set_env != NULL;
}

static bool keep_env(struct cann *c, struct str all, struct incore_error *e)
{
	struct str part;

	while (all.n) {
		const char *end = memchr(all.p, '\0', all.n);

		part = str_sub(all, 0, end ? (size_t)(end - all.p) : all.n);
		all = str_sub(all, part.n + 1, all.n);
		if (!memchr(part.p, '=', part.n))
			continue;
		if (!VEC_PUSH(&c->env, arena_strndup(&c->arena, part.p, part.n)) ||
			!c->env.v[c->env.n - 1])
			return err_nomem(e);
	}
	return VEC_PUSH(&c->env, NULL) || err_nomem(e);
}

static bool read_env(struct cann *c, struct incore_error *e)
{
	static const char MARK[] = "\n--environment--\n";
	const char *argv[] = {"bash", "-c",
		/* run the script without arguments: some would use them */
		"incore_script=$1; shift; . \"$incore_script\" && printf '\\n--environment--\\n' && exec env -0",
		"set_env", c->set_env, NULL};
	struct strbuf out = {0};
	struct process_spec spec = {.argv = argv, .output = &out, .limit_ms = ENV_LIMIT_MS};
	struct process_result r;
	struct strbuf why = {0};
	ptrdiff_t at;
	bool ok = process_run(&spec, &r, e);

	at = ok && out.p ? str_find((struct str){out.p, out.n}, MARK) : -1;
	if (ok && r.end == PROCESS_NOT_STARTED)
		ok = err_set(e, INCORE_MISSING, "no-bash", "bash is needed to read %s", c->set_env);
	if (ok && (r.end != PROCESS_EXITED || r.code != 0 || at < 0)) {
		process_describe(&spec, &r, &why);
		ok = err_set(e, INCORE_FAILED, "set-env-failed", "%s: %s: %.*s", c->set_env,
			why.p ? why.p : "",
			(int)(at < 0 ? (out.n < 400 ? out.n : 400) : (size_t)at),
			out.p ? out.p : "");
	}
	if (ok) {
		size_t from = (size_t)at + sizeof(MARK) - 1;

		ok = keep_env(c, (struct str){out.p + from, out.n - from}, e);
	}
	sb_free(&why);
	sb_free(&out);
	return ok;
}

/* --- chips --- */

struct soc_place { /* a folder with one folder per chip */
	struct cann *c;
	const char *dir;
};

static bool add_soc(void *ctx, const char *name, struct incore_error *e)
{
	const struct soc_place *in = ctx;
	struct cann *c = in->c;
	char *dir = arena_printf(&c->arena, "%s/%s", in->dir, name);
	char *lib = dir ? arena_printf(&c->arena, "%s/lib/libruntime_camodel.so", dir) : NULL;
	char *copy = arena_strdup(&c->arena, name);

	if (!lib || !copy)
		return err_nomem(e);
	if (!file_exists(lib) || !cann_is_word(name))
		return true;
	for (size_t i = 0; i < c->socs.n; i++)
		if (strcmp(c->socs.v[i].name, name) == 0)
			return true;
	return VEC_PUSH(&c->socs, (struct cann_soc){copy, dir}) || err_nomem(e);
}

/* <home>/<name>/simulator */
static bool add_socs_in(void *ctx, const char *name, struct incore_error *e)
{
	struct cann *c = ctx;
	struct soc_place in = {c, arena_printf(&c->arena, "%s/%s/simulator", c->home, name)};

	if (!in.dir)
		return err_nomem(e);
	return !file_is_dir(in.dir) || dir_each(in.dir, add_soc, &in, e);
}

ORDER(soc_order, struct cann_soc, A_TO_Z(name))

/* Lists folders named simulator, in home and one level below; this machine's own triplet comes
 * first. */
static bool list_socs(struct cann *c, struct incore_error *e)
{
	struct utsname machine;
	char *own =
		uname(&machine) == 0 ? arena_printf(&c->arena, "%s-linux", machine.machine) : NULL;
	bool ok = file_is_dir(c->home) ||
		  err_set(e, INCORE_MISSING, "no-cann",
			  "%s sets ASCEND_HOME_PATH to %s, which is not a directory", c->set_env,
			  c->home);

	ok = ok && (!own || add_socs_in(c, own, e)) && add_socs_in(c, ".", e) &&
	     dir_each(c->home, add_socs_in, c, e);
	if (ok && c->socs.n)
		SORT(c->socs.v, c->socs.n, soc_order);
	return ok;
}

static void list_names(const struct cann *c, struct strbuf *out)
{
	for (size_t i = 0; i < c->socs.n; i++)
		sb_printf(out, "%s%s", i ? ", " : "", c->socs.v[i].name);
	if (!c->socs.n)
		sb_puts(out, "none");
}

static bool fits_target(const char *name, const struct cann_target *t)
{
	return strcmp(name, t->soc) == 0 || strcasestr(name, t->soc_words[0]) ||
	       (t->soc_words[1] && strcasestr(name, t->soc_words[1]));
}

size_t cann_guess_soc(
	const struct cann_soc *socs, size_t n, enum opstream_arch target, size_t *n_fit)
{
	const struct cann_target *t = cann_target(target);
	size_t best = n;

	*n_fit = 0;
	for (size_t i = 0; i < n; i++) {
		if (!fits_target(socs[i].name, t))
			continue;
		++*n_fit;
		if (best == n || strcmp(socs[i].name, t->soc) == 0 ||
			(strcmp(socs[best].name, t->soc) != 0 &&
				strcmp(socs[i].name, socs[best].name) < 0))
			best = i;
	}
	return best;
}

static void guess_soc(struct cann *c, enum opstream_arch target)
{
	size_t n_fit, best = cann_guess_soc(c->socs.v, c->socs.n, target, &n_fit);

	if (best == c->socs.n)
		return;
	c->soc = c->socs.v[best].name;
	c->soc_dir = c->socs.v[best].dir;
	if (n_fit > 1)
		c->soc_note = arena_printf(&c->arena,
			"%zu chips of this platform have a simulator; %s was taken, --soc-version names another",
			n_fit, c->soc);
}

static bool choose_soc(
	struct cann *c, const char *stated, enum opstream_arch target, struct incore_error *e)
{
	const struct cann_target *t = cann_target(target);
	struct strbuf names = {0};

	for (size_t i = 0; stated && i < c->socs.n; i++)
		if (strcmp(c->socs.v[i].name, stated) == 0) {
			c->soc = c->socs.v[i].name;
			c->soc_dir = c->socs.v[i].dir;
		}
	if (!stated)
		guess_soc(c, target);
	if (!c->soc) {
		list_names(c, &names);
		err_set(e, INCORE_MISSING, "no-simulator",
			"no simulator library for %s (platform %s) in %s: looked for lib/libruntime_camodel.so below */simulator, simulator and tools/simulator; chips that have one: %s",
			stated ? stated : t->soc, op_arch_name(target), c->home,
			names.p ? names.p : "");
		sb_free(&names);
	}
	return c->soc != NULL;
}

/* Builds the library path: lib64 and devlib, then devlib and the chip's folder per triplet, then
 * the previous value. */
static bool make_library_path(struct cann *c, struct incore_error *e)
{
	static const char *const TRIPLETS[] = {"aarch64-linux", "x86_64-linux"};
	bool has_own = false;
	const char *old = cann_env(c, "LD_LIBRARY_PATH");
	struct strbuf b = {0};

	sb_printf(&b, "%s/lib64:%s/devlib", c->home, c->home);
	for (size_t i = 0; i < 2; i++) {
		char *dir = arena_printf(&c->arena, "%s/%s", c->home, TRIPLETS[i]);

		if (!dir) {
			sb_free(&b);
			return err_nomem(e);
		}
		if (!file_is_dir(dir))
			continue;
		sb_printf(&b, ":%s/devlib:%s/simulator/%s/lib", dir, dir, c->soc);
		has_own |= str_starts(str_of(c->soc_dir), dir) && c->soc_dir[strlen(dir)] == '/';
	}
	if (!has_own)
		sb_printf(&b, ":%s/lib", c->soc_dir);
	if (old && *old)
		sb_printf(&b, ":%s", old);
	c->library_path = b.failed ? NULL : arena_strndup(&c->arena, b.p, b.n);
	sb_free(&b);
	return c->library_path || err_nomem(e);
}

/* Takes the home that the script sets; if it sets none, the user's, which is then set for all
 * programs started. */
static bool take_home(struct cann *c, const char *stated, struct incore_error *e)
{
	const char *home = cann_env(c, "ASCEND_HOME_PATH");
	char *full, *line;

	if (home && *home) {
		c->home = arena_strdup(&c->arena, home);
		return c->home || err_nomem(e);
	}
	full = stated ? realpath(stated, NULL) : NULL;
	if (!full)
		return err_set(
			e, INCORE_MISSING, "no-cann", "%s sets no ASCEND_HOME_PATH", c->set_env);
	line = arena_printf(&c->arena, "ASCEND_HOME_PATH=%s", full);
	free(full);
	if (!line)
		return err_nomem(e);
	c->home = line + strlen("ASCEND_HOME_PATH=");
	return cann_set_env(c, line) || err_nomem(e);
}

bool cann_set_env(struct cann *c, const char *line)
{
	size_t n = strcspn(line, "=") + 1;

	for (size_t i = 0; i < c->env.n && c->env.v[i]; i++)
		if (strncmp(c->env.v[i], line, n) == 0) {
			c->env.v[i] = line;
			return true;
		}
	if (!VEC_PUSH(&c->env, NULL))
		return false;
	c->env.v[c->env.n - 2] = line;
	return true;
}

bool cann_is_word(const char *s)
{
	return *s &&
	       s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")] ==
		       '\0';
}

bool cann_open(struct cann *c, const struct cann_options *o, enum opstream_arch target,
	struct incore_error *e)
{
	*c = (struct cann){0};
	arena_init(&c->arena);
	if (!find_script(c, o, e) || !read_env(c, e) || !take_home(c, o->home, e))
		return false;
	if (o->is_on_device)
		return true;
	return list_socs(c, e) && choose_soc(c, o->soc, target, e) && make_library_path(c, e);
}
