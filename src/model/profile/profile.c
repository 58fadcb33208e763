/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.c: finds, reads and checks the file of a profile and its base. Parts: finding the file;
 * reading it.
 */
#include "model/profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/sha256.h"
#include "codec/yaml.h"

/* --- finding the file ------------------------------------------------------------------------- */

/* Finds a profile: installed, in the source tree, or built into the program. */

#define BUILT_IN "(built in)/"

/* Generated from profiles/ at build time, for a stand-alone program. */
extern const struct asset profile_assets[];
extern const size_t profile_n_assets;

/* The folder of the installed profiles, on the heap: $INCORE_PROFILES, beside the program (in a
 * build tree or installed); NULL if it does not exist. */
static char *profile_dir(void)
{
	const char *env = getenv("INCORE_PROFILES");
	char *dir;

	if (env && *env)
		return mem_strndup(env, strlen(env));
	dir = file_beside_program("../share/incore/profiles");
	if (!dir)
		dir = file_beside_program("../profiles"); /* a build directory in the source tree */
	return dir;
}

struct names {
	struct strbuf *out;
};

static bool add_name(void *ctx, const char *name, struct incore_error *e)
{
	struct names *n = ctx;
	size_t len = strlen(name);

	(void)e;
	if (len > 5 && strcmp(name + len - 5, ".yaml") == 0)
		sb_printf(n->out, "%s%.*s", n->out->n ? ", " : "", (int)(len - 5), name);
	return true;
}

/* Appends the names of the installed profiles, in byte order, separated by ", ". */
static bool profile_names(struct strbuf *out)
{
	struct names n = {out};
	char *dir = profile_dir();
	bool ok = !dir || dir_each(dir, add_name, &n, NULL);

	for (size_t i = 0; !dir && i < profile_n_assets; i++)
		ok = add_name(&n, profile_assets[i].url, NULL);
	mem_free(dir);
	return ok && !out->failed;
}

static bool is_plain_name(const char *s)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!(*s >= 'a' && *s <= 'z') && !(*s >= '0' && *s <= '9') && *s != '_' &&
			*s != '-')
			return false;
	return true;
}

static const struct asset *built_in(const char *leaf)
{
	for (size_t i = 0; i < profile_n_assets; i++)
		if (strcmp(profile_assets[i].url, leaf) == 0)
			return &profile_assets[i];
	return NULL;
}

/* The built-in profile that such a path names; NULL for files. */
static const struct asset *profile_built_in(const char *path)
{
	return str_starts(str_of(path), BUILT_IN) ? built_in(path + strlen(BUILT_IN)) : NULL;
}

/* The path of a profile, on the heap: beside the file that names it as base, in the folder of
 * installed profiles or, without that folder, built into the program; NULL if there is no such
 * profile. */
static char *profile_find(const char *name, const char *beside)
{
	char *dir, *path = NULL, *file;
	struct strbuf leaf = {0};
	const char *slash = beside ? strrchr(beside, '/') : NULL;

	if (!is_plain_name(name) || !sb_printf(&leaf, "%s.yaml", name)) {
		sb_free(&leaf);
		return NULL;
	}
	if (beside) {
		dir = slash ? mem_strndup(beside, (size_t)(slash - beside) + 1)
			    : mem_strndup(".", 1);
		path = dir ? path_join(dir, leaf.p) : NULL;
		mem_free(dir);
		if (path && !file_exists(path)) {
			mem_free(path);
			path = NULL;
		}
	}
	dir = path ? NULL : profile_dir();
	file = dir ? path_join(dir, leaf.p) : NULL;
	if (file && file_exists(file)) {
		path = file;
		file = NULL;
	}
	if (!path && !dir && built_in(leaf.p))
		path = path_join(BUILT_IN, leaf.p);
	mem_free(file);
	mem_free(dir);
	sb_free(&leaf);
	return path;
}

/* --- reading it ------------------------------------------------------------------------------- */

#define MAX_BASES 4
#define MAX_BYTES (1u << 20)

struct reader {
	struct profile *p;
	const char *path;   /* of the file being read */
	const char *origin; /* its name */
	struct incore_error *e;
};

static bool no_such_profile(const char *name, struct incore_error *e)
{
	struct strbuf known = {0};

	profile_names(&known);
	err_set(e, INCORE_BAD_INPUT, "no-profile",
		"there is no profile '%s'; installed: %s; a file is named by its path", name,
		known.n ? known.p : "none");
	sb_free(&known);
	return false;
}

/* --- values --- */

static bool read_text(
	struct reader *r, const struct yaml_node *map, const char *key, const char **out)
{
	const struct yaml_node *n = yaml_get(map, key);

	if (!n)
		return yaml_error(map, r->path, r->e, "%s: expected %s", map->key, key);
	if (n->kind != YAML_SCALAR || n->text.n == 0)
		return yaml_error(n, r->path, r->e, "%s must be a text", key);
	*out = n->text.p;
	return true;
}

static bool read_status(struct reader *r, const struct yaml_node *map, enum prof_status *out)
{
	const char *text = NULL;

	if (!read_text(r, map, "status", &text))
		return false;
	for (unsigned s = 0; s < STATUS_COUNT; s++)
		if (strcmp(text, prof_status_name((enum prof_status)s)) == 0) {
			*out = (enum prof_status)s;
			return true;
		}
	return yaml_error(yaml_get(map, "status"), r->path, r->e,
		"expected status device, camodel, fit or guess, found '%s'", text);
}

static bool read_number(
	struct reader *r, const struct yaml_node *map, const char *key, int64_t *e4, bool *has)
{
	const struct yaml_node *n = yaml_get(map, key);

	if (has)
		*has = n != NULL;
	if (!n && has)
		return true;
	if (!n)
		return yaml_error(map, r->path, r->e, "%s: expected %s", map->key, key);
	if (n->kind != YAML_SCALAR || !prof_number(n->text, e4))
		return yaml_error(n, r->path, r->e,
			"%s: expected a number of at most four decimals, found '%s'", key,
			n->kind == YAML_SCALAR ? n->text.p : "a list or map");
	return true;
}

/* Rates are divisors, so they must not be 0. */
static bool is_rate(enum prof_key k)
{
	return k == K_CLOCK_MHZ || k == K_GM_UB_BW || k == K_GM_L1_BW || k == K_GM_WR_BW ||
	       k == K_DMA_SERIAL_BW || k == K_L0A || k == K_L0B || k == K_L1_BT_BW ||
	       k == K_FIX_BW || k == K_FIX_GM_BW || k == K_QUEUE_DEPTH || k == K_FP32_PASSES;
}

static bool profile_read_constant(struct reader *r, const struct yaml_node *n)
{
	enum prof_key k = prof_key_find(str_of(n->key));
	struct prof_value v = {.is_set = true, .origin = r->origin};

	if (k == K_COUNT)
		return yaml_error(n, r->path, r->e, "'%s' is not a constant of the model", n->key);
	if (n->kind != YAML_MAP)
		return yaml_error(
			n, r->path, r->e, "%s: expected {value, unit, source, status}", n->key);
	if (!read_number(r, n, "value", &v.e4, NULL) || !read_text(r, n, "unit", &v.unit) ||
		!read_text(r, n, "source", &v.source) || !read_status(r, n, &v.status))
		return false;
	if (v.e4 < 0 || (v.e4 == 0 && is_rate(k)) || v.e4 > (int64_t)1000000 * PROF_ONE)
		return yaml_error(yaml_get(n, "value"), r->path, r->e,
			"%s: the value is out of range", n->key);
	if (k == K_QUEUE_DEPTH && (v.e4 % PROF_ONE || v.e4 > (int64_t)1024 * PROF_ONE))
		return yaml_error(yaml_get(n, "value"), r->path, r->e,
			"queue_depth must be a whole number up to 1024");
	r->p->k[k] = v;
	return true;
}

static bool read_vec(struct reader *r, const struct yaml_node *n)
{
	struct prof_vec v = {.name = n->key};
	bool has16 = false;

	if (n->kind != YAML_MAP)
		return yaml_error(
			n, r->path, r->e, "%s: expected {slope, fix, source, status}", n->key);
	if (!read_number(r, n, "slope", &v.slope_e4, NULL) ||
		!read_number(r, n, "slope16", &v.slope16_e4, &has16) ||
		!read_number(r, n, "fix", &v.fix_e4, NULL) ||
		!read_text(r, n, "source", &v.source) || !read_status(r, n, &v.status))
		return false;
	if (!has16)
		v.slope16_e4 = v.slope_e4;
	if (v.slope_e4 < 0 || v.slope16_e4 < 0 || v.fix_e4 < 0)
		return yaml_error(n, r->path, r->e, "%s: a negative price", n->key);
	for (size_t i = 0; i < r->p->vec.n; i++)
		if (strcmp(r->p->vec.v[i].name, v.name) == 0) {
			r->p->vec.v[i] = v;
			return true;
		}
	return VEC_PUSH(&r->p->vec, v) || err_nomem(r->e);
}

/* "64:7/32" */
static bool read_point(struct str word, struct prof_point *out)
{
	struct str rest = word, cols, a;
	int64_t c;

	if (!str_cut(&rest, ":", &cols) || !str_cut(&rest, "/", &a) || !prof_number(cols, &c) ||
		c <= 0 || c % PROF_ONE || c > (int64_t)1000000 * PROF_ONE ||
		!prof_number(a, &out->a_e4) || !prof_number(rest, &out->b_e4))
		return false;
	out->cols = (uint32_t)(c / PROF_ONE);
	return out->a_e4 >= 0 && out->b_e4 >= 0;
}

static bool read_points(struct reader *r, const struct yaml_node *n, struct prof_table *t)
{
	const char *text = NULL;
	struct str rest, word;
	VEC(struct prof_point) v = {0};
	bool ok = read_text(r, n, "points", &text);

	rest = str_of(ok ? text : "");
	while (ok && str_cut(&rest, " ", &word)) {
		struct prof_point at;

		if (word.n == 0)
			continue;
		if (!read_point(word, &at) || (v.n && v.v[v.n - 1].cols >= at.cols))
			ok = yaml_error(yaml_get(n, "points"), r->path, r->e,
				"%s: expected cols:a/b with rising cols, found '%.*s'", n->key,
				STR_ARG(word));
		else if (!VEC_PUSH(&v, at))
			ok = err_nomem(r->e);
	}
	if (ok && v.n == 0)
		ok = yaml_error(n, r->path, r->e, "%s: no points", n->key);
	if (ok) {
		t->points = arena_memdup(&r->p->arena, v.v, v.n * sizeof(*v.v));
		t->n = (uint32_t)v.n;
		ok = t->points || err_nomem(r->e);
	}
	VEC_FREE(&v);
	return ok;
}

/* "TROWMAX_f32" */
static bool read_table(struct reader *r, const struct yaml_node *n)
{
	struct prof_table t = {0};
	struct str key = str_of(n->key);

	if (str_ends(key, "_f32"))
		t.bits = 32;
	else if (str_ends(key, "_f16"))
		t.bits = 16;
	if (!t.bits || n->kind != YAML_MAP)
		return yaml_error(n, r->path, r->e,
			"%s: expected OP_f32 or OP_f16: {points, source, status}", n->key);
	t.op = arena_strndup(&r->p->arena, key.p, key.n - 4);
	if (!t.op)
		return err_nomem(r->e);
	if (!read_points(r, n, &t) || !read_text(r, n, "source", &t.source) ||
		!read_status(r, n, &t.status))
		return false;
	for (size_t i = 0; i < r->p->tables.n; i++)
		if (strcmp(r->p->tables.v[i].op, t.op) == 0 && r->p->tables.v[i].bits == t.bits) {
			r->p->tables.v[i] = t;
			return true;
		}
	return VEC_PUSH(&r->p->tables, t) || err_nomem(r->e);
}

static bool profile_read_loop(struct reader *r, const struct yaml_node *n)
{
	struct prof_loop l = {.name = n->key};
	bool q = false, q2 = false, s2 = false;

	if (n->kind != YAML_MAP)
		return yaml_error(n, r->path, r->e, "%s: expected {p, q, source, status}", n->key);
	if (!read_number(r, n, "p", &l.p1_e4, &l.has_1d) || !read_number(r, n, "q", &l.q1_e4, &q) ||
		!read_number(r, n, "p2", &l.p2_e4, &l.has_2d) ||
		!read_number(r, n, "q2", &l.q2_e4, &q2) ||
		!read_number(r, n, "s2", &l.s2_e4, &s2) || !read_text(r, n, "source", &l.source) ||
		!read_status(r, n, &l.status))
		return false;
	if (l.has_1d != q || l.has_2d != q2 || l.has_2d != s2 || !(l.has_1d || l.has_2d))
		return yaml_error(
			n, r->path, r->e, "%s: expected p and q, or p2, q2 and s2, or all", n->key);
	for (size_t i = 0; i < r->p->loops.n; i++)
		if (strcmp(r->p->loops.v[i].name, l.name) == 0) {
			r->p->loops.v[i] = l;
			return true;
		}
	return VEC_PUSH(&r->p->loops, l) || err_nomem(r->e);
}

static bool read_residual(struct reader *r, const struct yaml_node *n)
{
	struct prof_residual x = {0};
	int64_t kernels = 0;
	unsigned k = 0;

	while (k < KERNEL_KINDS && strcmp(n->key, kernel_kind_name((enum kernel_kind)k)) != 0)
		k++;
	if (k == KERNEL_KINDS || n->kind != YAML_MAP)
		return yaml_error(n, r->path, r->e,
			"expected cube, vector or mixed: {kernels, low, high, alone_low, alone_high, source}");
	if (!read_number(r, n, "kernels", &kernels, NULL) ||
		!read_number(r, n, "low", &x.low_e4[1], NULL) ||
		!read_number(r, n, "high", &x.high_e4[1], NULL) ||
		!read_number(r, n, "alone_low", &x.low_e4[0], NULL) ||
		!read_number(r, n, "alone_high", &x.high_e4[0], NULL) ||
		!read_text(r, n, "source", &x.source))
		return false;
	x.kernels =
		kernels > 0 && kernels < 10000LL * PROF_ONE ? (uint32_t)(kernels / PROF_ONE) : 0;
	r->p->residuals[k] = x;
	return true;
}

static bool read_switch(struct reader *r, const struct yaml_node *n)
{
	bool *to = strcmp(n->key, "v_overlap") == 0    ? &r->p->v_overlap
		   : strcmp(n->key, "dma_serial") == 0 ? &r->p->dma_serial
						       : NULL;

	if (!to)
		return yaml_error(n, r->path, r->e, "'%s' is not a switch of the model", n->key);
	if (n->kind == YAML_SCALAR && str_is(n->text, "true"))
		*to = true;
	else if (n->kind == YAML_SCALAR && str_is(n->text, "false"))
		*to = false;
	else
		return yaml_error(n, r->path, r->e, "%s: expected true or false", n->key);
	return true;
}

static bool each(struct reader *r, const struct yaml_node *root, const char *section,
	bool (*read)(struct reader *, const struct yaml_node *))
{
	const struct yaml_node *map = yaml_get(root, section);

	if (!map)
		return true;
	if (map->kind != YAML_MAP)
		return yaml_error(map, r->path, r->e, "%s must be a map", section);
	for (const struct yaml_node *n = map->first; n; n = n->next)
		if (!read(r, n))
			return false;
	return true;
}

/* --- files --- */

static bool check_head(struct reader *r, const struct yaml_node *root)
{
	static const char *const known[] = {"format", "version", "name", "base", "arch", "soc",
		"calibration", "note", "switches", "constants", "vector", "tables", "loops",
		"residuals"};
	const struct yaml_node *format = yaml_get(root, "format");
	const struct yaml_node *version = yaml_get(root, "version");

	if (!format || format->kind != YAML_SCALAR || !str_is(format->text, "incore-profile"))
		return yaml_error(
			root, r->path, r->e, "not a profile: no 'format: incore-profile'");
	if (!version || version->kind != YAML_SCALAR || !str_is(version->text, "1"))
		return yaml_error(version ? version : root, r->path, r->e, "expected 'version: 1'");
	for (const struct yaml_node *n = root->first; n; n = n->next) {
		size_t i = 0;

		while (i < sizeof(known) / sizeof(known[0]) && strcmp(known[i], n->key) != 0)
			i++;
		if (i == sizeof(known) / sizeof(known[0]))
			return yaml_error(n, r->path, r->e, "unknown section '%s'", n->key);
	}
	return true;
}

static bool read_words(struct reader *r, const struct yaml_node *root)
{
	struct profile *p = r->p;
	const char *arch = NULL;

	if (yaml_get(root, "arch")) {
		if (!read_text(r, root, "arch", &arch))
			return false;
		if (strcmp(arch, "a2a3") != 0 && strcmp(arch, "a5") != 0)
			return yaml_error(yaml_get(root, "arch"), r->path, r->e,
				"expected arch a2a3 or a5, found '%s'", arch);
		p->arch = strcmp(arch, "a5") == 0 ? ARCH_A5 : ARCH_A2A3;
	}
	return (!yaml_get(root, "soc") || read_text(r, root, "soc", &p->soc)) &&
	       (!yaml_get(root, "calibration") ||
		       read_text(r, root, "calibration", &p->calibration)) &&
	       (!yaml_get(root, "name") || read_text(r, root, "name", &p->name));
}

static bool read_sections(struct reader *r, const struct yaml_node *root)
{
	return each(r, root, "switches", read_switch) &&
	       each(r, root, "constants", profile_read_constant) &&
	       each(r, root, "vector", read_vec) && each(r, root, "tables", read_table) &&
	       each(r, root, "loops", profile_read_loop) &&
	       each(r, root, "residuals", read_residual);
}

static bool load_file(struct profile *p, const char *path, struct sha256 *hash, unsigned depth,
	struct incore_error *e);

static bool load_base(
	struct reader *r, const struct yaml_node *root, struct sha256 *hash, unsigned depth)
{
	const struct yaml_node *n = yaml_get(root, "base");
	char *path;
	bool ok;

	if (!n)
		return true;
	if (n->kind != YAML_SCALAR)
		return yaml_error(n, r->path, r->e, "base must be a name");
	if (depth == MAX_BASES)
		return yaml_error(
			n, r->path, r->e, "more than %d profiles stand on each other", MAX_BASES);
	path = profile_find(n->text.p, r->path);
	if (!path)
		return yaml_error(n, r->path, r->e, "there is no profile '%s'", n->text.p);
	ok = load_file(r->p, path, hash, depth + 1, r->e);
	mem_free(path);
	return ok;
}

/* Loads the base first, so that the file overrides it. */
static bool load_text(struct profile *p, struct str text, const char *path, struct sha256 *hash,
	unsigned depth, struct incore_error *e)
{
	struct yaml_node *root = NULL;
	struct reader r = {.p = p, .e = e};
	size_t len = strlen(path_base(path));

	r.path = arena_strdup(&p->arena, path);
	r.origin = arena_strndup(&p->arena, path_base(path), len > 5 ? len - 5 : len);
	if (!r.path || !r.origin)
		return err_nomem(e);
	if (text.n > MAX_BYTES)
		return err_file(e, "bad-profile", path, INCORE_NO_OFFSET,
			"a profile has at most %u bytes", MAX_BYTES);
	if (!yaml_parse(&p->arena, text, r.path, &root, e) || !check_head(&r, root))
		return false;
	sha256_add(hash, text.p, text.n);
	if (!load_base(&r, root, hash, depth))
		return false;
	p->path = r.path;
	p->name = r.origin;
	return read_words(&r, root) && read_sections(&r, root);
}

static bool load_file(struct profile *p, const char *path, struct sha256 *hash, unsigned depth,
	struct incore_error *e)
{
	struct file_data f = {0};
	const struct asset *a = profile_built_in(path);
	bool ok;

	if (a)
		return load_text(
			p, (struct str){(const char *)a->data, a->size}, path, hash, depth, e);
	if (!file_load(&f, path, e))
		return false;
	ok = load_text(p, (struct str){(const char *)f.data, f.size}, path, hash, depth, e);
	file_unload(&f);
	return ok;
}

static bool check_whole(const struct profile *p, struct incore_error *e)
{
	for (unsigned k = 0; k < K_FIRST_OPTIONAL; k++)
		if (!p->k[k].is_set)
			return err_file(e, "bad-profile", p->path, INCORE_NO_OFFSET,
				"neither the profile nor its base gives %s",
				prof_key_name((enum prof_key)k));
	if (!profile_vec(p, "default"))
		return err_file(e, "bad-profile", p->path, INCORE_NO_OFFSET,
			"neither the profile nor its base gives vector: default");
	return true;
}

static void init(struct profile *p, enum opstream_arch arch)
{
	*p = (struct profile){.arch = arch, .calibration = "uncalibrated"};
	arena_init(&p->arena);
}

static bool finish(struct profile *p, bool ok, struct sha256 *hash, struct incore_error *e)
{
	if (!ok || !check_whole(p, e)) {
		profile_deinit(p);
		return false;
	}
	sha256_hex(hash, p->sha256);
	if (!p->soc)
		p->soc = p->name;
	return true;
}

bool profile_read(struct profile *p, struct str text, const char *path, enum opstream_arch arch,
	struct incore_error *e)
{
	struct sha256 hash;

	init(p, arch);
	sha256_init(&hash);
	return finish(p, load_text(p, text, path, &hash, 1, e), &hash, e);
}

bool profile_load(
	struct profile *p, const char *name, enum opstream_arch arch, struct incore_error *e)
{
	struct sha256 hash;
	bool is_path, ok;
	char *path;

	init(p, arch);
	if (!name)
		name = arch == ARCH_A5 ? "a5" : "910b1";
	is_path = strchr(name, '/') || str_ends(str_of(name), ".yaml");
	path = is_path ? mem_strndup(name, strlen(name)) : profile_find(name, NULL);
	if (!path)
		return no_such_profile(name, e);
	sha256_init(&hash);
	ok = finish(p, load_file(p, path, &hash, 1, e), &hash, e);
	mem_free(path);
	return ok;
}

void profile_deinit(struct profile *p)
{
	VEC_FREE(&p->vec);
	VEC_FREE(&p->tables);
	VEC_FREE(&p->loops);
	arena_deinit(&p->arena);
}

/* --- finding --- */

const struct prof_vec *profile_vec(const struct profile *p, const char *name)
{
	for (size_t i = 0; i < p->vec.n; i++)
		if (strcmp(p->vec.v[i].name, name) == 0)
			return &p->vec.v[i];
	return NULL;
}

const struct prof_table *profile_table(const struct profile *p, const char *op, unsigned bits)
{
	for (size_t i = 0; i < p->tables.n; i++)
		if (p->tables.v[i].bits == bits && strcmp(p->tables.v[i].op, op) == 0)
			return &p->tables.v[i];
	return NULL;
}

const struct prof_loop *profile_loop(const struct profile *p, const char *name)
{
	for (size_t i = 0; i < p->loops.n; i++)
		if (strcmp(p->loops.v[i].name, name) == 0)
			return &p->loops.v[i];
	return NULL;
}
