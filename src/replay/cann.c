/* SPDX-License-Identifier: Apache-2.0 */
/* cann.c: the script, its environment, the chips with a simulator. */
#include "replay/cann.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"

#define ENV_LIMIT_MS 60000

static const struct cann_target TARGETS[] = {
	[TARGET_A2A3] = {"dav_2201", "dav-c220", 220, "PTO_NPU_ARCH_A2A3", {"910b", NULL}},
	[TARGET_A5] = {"dav_3510", "dav-c310", 310, "PTO_NPU_ARCH_A5", {"950", "a5"}},
};

const char *replay_target_name(enum replay_target t)
{
	return t == TARGET_A5 ? "a5" : "a2a3";
}

const struct cann_target *cann_target(enum replay_target t)
{
	return &TARGETS[t];
}

void cann_deinit(struct cann *c)
{
	VEC_FREE(&c->env);
	VEC_FREE(&c->socs);
	VEC_FREE(&c->soc_dirs);
	arena_deinit(&c->arena);
}

const char *cann_env(const struct cann *c, const char *name)
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

struct look { /* for set_env.sh */
	struct cann *c;
	struct strbuf looked; /* places, for the message */
};

static bool try_script(struct look *l, const char *path)
{
	if (!path || l->c->set_env)
		return l->c->set_env != NULL;
	if (file_exists(path) && !file_is_dir(path)) {
		l->c->set_env = path;
		return true;
	}
	sb_printf(&l->looked, "%s%s", l->looked.n ? ", " : "", path);
	return false;
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
	const char *stated = o->set_env ? o->set_env : o->home ? NULL : getenv("CANN_SET_ENV");

	if (o->home) {
		try_script(&l, arena_printf(&c->arena, "%s/set_env.sh", o->home));
		try_script(&l, arena_printf(&c->arena, "%s/../set_env.sh", o->home));
	} else if (stated && *stated) {
		try_script(&l, stated);
	} else {
		if (home && *home) {
			try_script(&l, arena_printf(&c->arena, "%s/set_env.sh", home));
			try_script(&l, arena_printf(&c->arena, "%s/../set_env.sh", home));
		}
		try_under(&l, "/usr/local/Ascend");
		if (user && *user)
			try_under(&l, arena_printf(&c->arena, "%s/Ascend", user));
		try_under(&l, "/opt/Ascend");
	}
	if (!c->set_env)
		err_set(e, INCORE_MISSING, "no-cann",
			"CANN is not installed here: no set_env.sh; looked at %s; name it with "
			"--cann-set-env or $CANN_SET_ENV, or replay with --backend model",
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
		". \"$1\" && printf '\\n--environment--\\n' && exec env -0", "set_env", c->set_env,
		NULL};
	struct strbuf out = {0};
	struct process_spec spec = {.argv = argv, .output = &out, .limit_ms = ENV_LIMIT_MS};
	struct process_result r;
	struct strbuf why = {0};
	ptrdiff_t at;
	bool ok = process_run(&spec, &r, e);

	at = ok && out.p ? str_find((struct str){out.p, out.n}, MARK) : -1;
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

static bool add_soc(void *ctx, const char *name, struct incore_error *e)
{
	struct {
		struct cann *c;
		const char *dir;
	} *in = ctx;
	struct cann *c = in->c;
	char *dir = arena_printf(&c->arena, "%s/%s", in->dir, name);
	char *lib = dir ? arena_printf(&c->arena, "%s/lib/libruntime_camodel.so", dir) : NULL;
	char *copy = arena_strdup(&c->arena, name);

	if (!lib || !copy)
		return err_nomem(e);
	if (!file_exists(lib))
		return true;
	for (size_t i = 0; i < c->socs.n; i++)
		if (strcmp(c->socs.v[i], name) == 0)
			return true;
	return (VEC_PUSH(&c->socs, copy) && VEC_PUSH(&c->soc_dirs, dir)) || err_nomem(e);
}

static bool add_socs_below(struct cann *c, const char *dir, struct incore_error *e)
{
	struct {
		struct cann *c;
		const char *dir;
	} in = {c, dir};

	return !file_is_dir(dir) || dir_each(dir, add_soc, &in, e);
}

static bool list_socs(struct cann *c, struct incore_error *e)
{
	static const char *const PLACES[] = {"aarch64-linux/simulator", "x86_64-linux/simulator",
		"simulator", "tools/simulator"};
	bool ok = true;

	for (size_t i = 0; ok && i < sizeof(PLACES) / sizeof(*PLACES); i++) {
		char *dir = arena_printf(&c->arena, "%s/%s", c->home, PLACES[i]);

		ok = dir ? add_socs_below(c, dir, e) : err_nomem(e);
	}
	return ok;
}

static void list_names(const struct cann *c, struct strbuf *out)
{
	for (size_t i = 0; i < c->socs.n; i++)
		sb_printf(out, "%s%s", i ? ", " : "", c->socs.v[i]);
	if (!c->socs.n)
		sb_puts(out, "none");
}

static void take_soc(struct cann *c, size_t i)
{
	c->soc = c->socs.v[i];
	c->soc_dir = c->soc_dirs.v[i];
}

/* The platform's own name if there is one, else the first by name that contains its word. */
static void guess_soc(struct cann *c, const struct cann_target *t)
{
	size_t best = SIZE_MAX, n = 0;

	for (size_t i = 0; i < c->socs.n; i++)
		if (strcmp(c->socs.v[i], t->soc) == 0) {
			take_soc(c, i);
			return;
		}
	for (size_t i = 0; i < c->socs.n; i++) {
		bool fits = strcasestr(c->socs.v[i], t->soc_words[0]) != NULL ||
			    (t->soc_words[1] && strcasestr(c->socs.v[i], t->soc_words[1]));

		n += fits;
		if (fits && (best == SIZE_MAX || strcmp(c->socs.v[i], c->socs.v[best]) < 0))
			best = i;
	}
	if (best == SIZE_MAX)
		return;
	take_soc(c, best);
	if (n > 1)
		c->soc_note = arena_printf(&c->arena,
			"%zu chips of this platform have a simulator; %s was taken, --soc-version "
			"names another",
			n, c->soc);
}

static bool choose_soc(
	struct cann *c, const char *stated, enum replay_target target, struct incore_error *e)
{
	const struct cann_target *t = cann_target(target);
	struct strbuf names = {0};

	for (size_t i = 0; stated && i < c->socs.n; i++)
		if (strcmp(c->socs.v[i], stated) == 0)
			take_soc(c, i);
	if (!stated)
		guess_soc(c, t);
	if (!c->soc) {
		list_names(c, &names);
		err_set(e, INCORE_MISSING, "no-simulator",
			"no simulator library for %s (platform %s) in %s: looked for "
			"lib/libruntime_camodel.so below */simulator, simulator and "
			"tools/simulator; "
			"chips that have one: %s",
			stated ? stated : t->soc, replay_target_name(target), c->home,
			names.p ? names.p : "");
		sb_free(&names);
	}
	return c->soc != NULL;
}

/* lib64 and devlib, then per triplet devlib and the chip's own, then what was there. */
static bool make_library_path(struct cann *c, struct incore_error *e)
{
	static const char *const TRIPLETS[] = {"aarch64-linux", "x86_64-linux"};
	const char *old = cann_env(c, "LD_LIBRARY_PATH");
	struct strbuf b = {0};

	sb_printf(&b, "%s/lib64:%s/devlib", c->home, c->home);
	for (size_t i = 0; i < 2; i++) {
		char *dir = arena_printf(&c->arena, "%s/%s", c->home, TRIPLETS[i]);

		if (dir && file_is_dir(dir))
			sb_printf(&b, ":%s/devlib:%s/simulator/%s/lib", dir, dir, c->soc);
	}
	sb_printf(&b, ":%s/lib", c->soc_dir);
	if (old && *old)
		sb_printf(&b, ":%s", old);
	c->library_path = b.failed ? NULL : arena_strndup(&c->arena, b.p, b.n);
	sb_free(&b);
	return c->library_path || err_nomem(e);
}

bool cann_open(struct cann *c, const struct cann_options *o, enum replay_target target,
	struct incore_error *e)
{
	const char *home;

	*c = (struct cann){0};
	arena_init(&c->arena);
	if (!find_script(c, o, e) || !read_env(c, e))
		return false;
	home = o->home ? o->home : cann_env(c, "ASCEND_HOME_PATH");
	if (!home || !*home)
		return err_set(
			e, INCORE_MISSING, "no-cann", "%s sets no ASCEND_HOME_PATH", c->set_env);
	c->home = arena_strdup(&c->arena, home);
	if (!c->home)
		return err_nomem(e);
	return list_socs(c, e) && choose_soc(c, o->soc, target, e) && make_library_path(c, e);
}
