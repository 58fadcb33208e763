/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c: what a sweep runs: its plan, and the cells of its matrix. Parts: cells; the plan.
 */
#include "sweep/plan.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/process.h"

/* --- cells ------------------------------------------------------------------------------------ */

/*
 * One task of a plan: inserts parameters into its command, variables and outputs.
 */

/* Where {name} is looked up: built-in words first, then parameters. */
struct sweep_cell_names {
	const struct sweep_pairs *params;
	const struct sweep_place *at;
	uint64_t cell, repeat;
	bool quotes; /* for a shell: quote values as one word */
};

/* Length of the name in braces at s; 0: not a name, the brace is literal. */
static size_t brace_len(const char *s)
{
	size_t n = 1;

	if (*s != '{' || (!isalpha((unsigned char)s[1]) && s[1] != '_'))
		return 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return s[n] == '}' ? n + 1 : 0;
}

static bool is_own(struct str name)
{
	static const char *const OWN[] = {"out", "base", "cell", "repeat", "attempt", "devices"};

	for (size_t i = 0; i < sizeof(OWN) / sizeof(*OWN); i++)
		if (str_is(name, OWN[i]))
			return true;
	return false;
}

/* Are all names in braces known? is_of_device: a command about a device, which only knows
 * {device}. */
static bool sweep_check_text(const struct sweep_plan *p, const struct sweep_text *t,
	bool is_of_device, struct incore_error *e)
{
	for (const char *s = t->text; *s; s++) {
		size_t n = brace_len(s);
		struct str name = {s + 1, n ? n - 2 : 0};
		bool is_known = !n || (is_of_device ? str_is(name, "device") : is_own(name));

		if (s[0] == '{' && s[1] == '{') {
			s++;
			continue;
		}
		for (size_t i = 0; i < p->n_axes && !is_known && !is_of_device; i++)
			for (size_t k = 0; k < p->axes[i].values[0].n; k++)
				is_known |= str_is(name, p->axes[i].values[0].v[k].name);
		if (!is_known)
			return yaml_error(t->at, p->path, e,
				"'{%.*s}' is no parameter that is known here; a brace is written {{",
				STR_ARG(name));
	}
	return true;
}

static void sweep_cell_put_value(
	const struct sweep_cell_names *k, const char *text, struct strbuf *out)
{
	if (k->quotes)
		process_quote((const char *const[]){text, NULL}, out);
	else
		sb_puts(out, text);
}

static void sweep_cell_put_name(
	const struct sweep_cell_names *k, struct str name, struct strbuf *out)
{
	char number[24] = "";

	for (size_t i = 0; i < k->params->n; i++)
		if (str_is(name, k->params->v[i].name)) {
			sweep_cell_put_value(k, k->params->v[i].value.text, out);
			return;
		}
	if (str_is(name, "out"))
		sweep_cell_put_value(k, k->at->out, out);
	else if (str_is(name, "base"))
		sweep_cell_put_value(k, k->at->base, out);
	else if (str_is(name, "devices"))
		sweep_cell_put_value(k, k->at->devices ? k->at->devices : "", out);
	else
		snprintf(number, sizeof(number), "%llu",
			(unsigned long long)(str_is(name, "cell")     ? k->cell
					     : str_is(name, "repeat") ? k->repeat
								      : k->at->attempt));
	sb_puts(out, number);
}

static const char *sweep_cell_fill(
	const struct sweep_cell_names *k, const char *text, struct arena *a)
{
	struct strbuf s = {0};
	const char *done;

	for (; *text; text++) {
		size_t n = brace_len(text);

		if (n)
			sweep_cell_put_name(k, (struct str){text + 1, n - 2}, &s);
		else
			sb_putc(&s, *text);
		if (n)
			text += n - 1;
		else if (text[0] == '{' && text[1] == '{')
			text++;
	}
	done = s.failed ? NULL : arena_strndup(a, s.p ? s.p : "", s.n);
	sb_free(&s);
	return done;
}

const char *sweep_device_text(const char *text, const char *device, struct arena *a)
{
	struct sweep_pair pair = {"device", {device, NULL}};
	struct sweep_place none = {.out = "", .base = ""};

	return sweep_cell_fill(
		&(struct sweep_cell_names){.params = &(struct sweep_pairs){&pair, 1}, .at = &none},
		text, a);
}

static bool params_of(
	const struct sweep_plan *p, uint64_t cell, struct arena *a, struct sweep_pairs *out)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_axes; i++)
		n += p->axes[i].values[0].n;
	*out = (struct sweep_pairs){arena_zalloc(a, n + 1, sizeof(*out->v)), 0};
	if (!out->v)
		return false;
	out->n = n;
	for (size_t i = p->n_axes; i-- > 0; cell /= p->axes[i].n) { /* the last varies fastest */
		const struct sweep_pairs *v = &p->axes[i].values[cell % p->axes[i].n];

		n -= v->n;
		memcpy(out->v + n, v->v, v->n * sizeof(*v->v));
	}
	return true;
}

static bool does_match(const struct sweep_plan *p, uint64_t cell, const struct sweep_pair *want)
{
	for (size_t i = p->n_axes; i-- > 0; cell /= p->axes[i].n) {
		const struct sweep_pairs *v = &p->axes[i].values[cell % p->axes[i].n];

		for (size_t k = 0; k < v->n; k++)
			if (strcmp(v->v[k].name, want->name) == 0)
				return strcmp(v->v[k].value.text, want->value.text) == 0;
	}
	return false;
}

bool sweep_is_excluded(const struct sweep_plan *p, uint64_t cell)
{
	for (size_t i = 0; i < p->n_excludes; i++) {
		size_t k = 0;

		while (k < p->excludes[i].n && does_match(p, cell, &p->excludes[i].v[k]))
			k++;
		if (k && k == p->excludes[i].n)
			return true;
	}
	return false;
}

const char *sweep_label(const struct sweep_plan *p, uint64_t cell, struct arena *a)
{
	struct sweep_pairs v;
	struct strbuf s = {0};
	const char *done;

	if (!params_of(p, cell, a, &v))
		return NULL;
	for (size_t i = 0; i < v.n; i++)
		sb_printf(&s, "%s%s=%s", i ? " " : "", v.v[i].name, v.v[i].value.text);
	done = s.failed ? NULL : arena_strndup(a, s.p ? s.p : "", s.n);
	sb_free(&s);
	return done;
}

/* --- lists --- */

static const char *const *fill_all(
	const struct sweep_cell_names *k, const struct sweep_texts *t, struct arena *a)
{
	const char **v = arena_zalloc(a, t->n + 1, sizeof(*v));

	for (size_t i = 0; v && i < t->n; i++) {
		v[i] = sweep_cell_fill(k, t->v[i].text, a);
		if (!v[i])
			return NULL;
	}
	return v;
}

const char *sweep_own_program(struct arena *a)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

	return n > 0 && n < PATH_MAX ? arena_strndup(a, path, (size_t)n) : "incore";
}

/* Does the command of one of our verbs state where its results go? */
static bool has_output(const char *const *words)
{
	for (; *words && strcmp(*words, "--") != 0; words++)
		if (strncmp(*words, "-o", 2) == 0 || strncmp(*words, "--output", 8) == 0)
			return true;
	return false;
}

/* "incore capture att -o OUT/capture ..." from the words after the verb. */
static const char *const *own_command(
	const struct sweep_plan *p, const struct sweep_cell_names *k, struct arena *a)
{
	static const char *const VERBS[] = {[SWEEP_CAPTURE] = "capture",
		[SWEEP_PROFILE] = "profile",
		[SWEEP_REPLAY] = "replay"};
	const char *const *words = fill_all(k, &p->command, a);
	const char **v = arena_zalloc(a, p->command.n + 5, sizeof(*v));
	size_t n = 0, i = 0;

	if (!words || !v)
		return NULL;
	v[n++] = sweep_own_program(a);
	if (!v[0])
		return NULL;
	v[n++] = VERBS[p->kind];
	if (p->kind == SWEEP_CAPTURE)
		v[n++] = words[i++];
	if (!has_output(words)) {
		v[n++] = "-o";
		v[n++] = arena_printf(a, "%s/%s", k->at->out, VERBS[p->kind]);
		if (!v[n - 1])
			return NULL;
	}
	while (words[i])
		v[n++] = words[i++];
	return v;
}

static const char *const *command_of(
	const struct sweep_plan *p, const struct sweep_cell_names *k, struct arena *a)
{
	struct sweep_cell_names quoted = *k;
	const char **v;

	if (p->kind == SWEEP_COMMAND)
		return fill_all(k, &p->command, a);
	if (p->kind != SWEEP_SHELL)
		return own_command(p, k, a);
	v = arena_zalloc(a, 4, sizeof(*v));
	quoted.quotes = true;
	if (!v)
		return NULL;
	v[0] = "/bin/sh";
	v[1] = "-c";
	v[2] = sweep_cell_fill(&quoted, p->command.v[0].text, a);
	return v[2] ? v : NULL;
}

static const char *const *env_of(
	const struct sweep_plan *p, const struct sweep_cell_names *k, struct arena *a)
{
	const char **v = arena_zalloc(a, p->env.n + 1, sizeof(*v));

	for (size_t i = 0; v && i < p->env.n; i++) {
		const char *value = sweep_cell_fill(k, p->env.v[i].value.text, a);

		v[i] = value ? arena_printf(a, "%s=%s", p->env.v[i].name, value) : NULL;
		if (!v[i])
			return NULL;
	}
	return v;
}

/* The files that `capture` leaves. */
static struct sweep_text taken_text = {.text = "{out}/capture/*.incore"};
static const struct sweep_texts taken = {&taken_text, 1};

bool sweep_expand(const struct sweep_plan *p, uint64_t task, const struct sweep_place *at,
	struct arena *a, struct sweep_cell *out, struct incore_error *e)
{
	struct sweep_cell_names k = {.at = at,
		.params = &out->params,
		.cell = sweep_cell_of(p, task),
		.repeat = task % p->repeats};

	*out = (struct sweep_cell){0};
	if (!params_of(p, k.cell, a, &out->params))
		return err_nomem(e);
	out->label = sweep_label(p, k.cell, a);
	out->argv = command_of(p, &k, a);
	out->env = env_of(p, &k, a);
	out->outputs = fill_all(&k, &p->outputs, a);
	out->captures =
		fill_all(&k, p->kind == SWEEP_CAPTURE && !p->captures.n ? &taken : &p->captures, a);
	out->cwd = p->cwd.text ? sweep_cell_fill(&k, p->cwd.text, a) : at->base;
	if (out->cwd && *out->cwd != '/')
		out->cwd = arena_printf(a, "%s/%s", at->base, out->cwd);
	return (out->label && out->argv && out->env && out->outputs && out->captures && out->cwd) ||
	       err_nomem(e);
}

/* --- the plan --------------------------------------------------------------------------------- */

/*
 * Reads a plan from YAML; errors state the line.
 */

#define DEFAULT_RETRIES 2
#define DEFAULT_HEALTH_MS 30000
#define DEFAULT_POLL_MS 5000
#define MAX_TIME_MS ((uint64_t)366 * 24 * 3600 * 1000)

struct sweep_plan_reader {
	struct sweep_plan *p;
	struct incore_error *e;
	bool has_command;
};

struct key {
	const char *name;
	bool (*take)(struct sweep_plan_reader *r, const struct yaml_node *n);
};

#define WRONG(r, n, ...) yaml_error((n), (r)->p->path, (r)->e, __VA_ARGS__)

/* --- values --- */

static bool take_scalar(
	struct sweep_plan_reader *r, const struct yaml_node *n, struct sweep_text *out)
{
	if (n->kind != YAML_SCALAR)
		return WRONG(r, n, "expected one value");
	*out = (struct sweep_text){n->text.p, n};
	return true;
}

static bool sweep_plan_take_word(
	struct sweep_plan_reader *r, const struct yaml_node *n, const char **out)
{
	struct sweep_text t;

	if (!take_scalar(r, n, &t))
		return false;
	*out = t.text;
	return *t.text || WRONG(r, n, "expected a value");
}

static bool sweep_plan_take_list(
	struct sweep_plan_reader *r, const struct yaml_node *n, struct sweep_texts *out)
{
	const struct yaml_node *k = n->first;

	if (n->kind != YAML_LIST)
		return WRONG(r, n, "expected a list of values");
	out->v = arena_zalloc(&r->p->arena, n->n + 1, sizeof(*out->v));
	if (!out->v)
		return err_nomem(r->e);
	for (; k; k = k->next)
		if (!take_scalar(r, k, &out->v[out->n++]))
			return false;
	return true;
}

/* Units of a number, as multiples of the smallest. */
struct unit_word {
	const char *word;
	uint64_t factor;
};

static bool take_amount(struct sweep_plan_reader *r, const struct yaml_node *n,
	const struct unit_word *units, uint64_t most, uint64_t *out)
{
	struct str s = n->text;
	size_t digits = 0;

	if (n->kind != YAML_SCALAR)
		return WRONG(r, n, "expected a number");
	while (digits < s.n && isdigit((unsigned char)s.p[digits]))
		digits++;
	for (; digits && units->word; units++) {
		uint64_t v;

		if (!str_is(str_trim(str_sub(s, digits, s.n)), units->word))
			continue;
		if (!str_to_u64(str_sub(s, 0, digits), &v) || v > most / units->factor)
			return WRONG(r, n, "'%.*s' is too large", STR_ARG(s));
		*out = v * units->factor;
		return true;
	}
	return WRONG(r, n, "expected a number, found '%.*s'", STR_ARG(s));
}

static bool take_count(struct sweep_plan_reader *r, const struct yaml_node *n, uint64_t least,
	uint64_t most, uint64_t *out)
{
	static const struct unit_word plain[] = {{"", 1}, {NULL, 0}};

	if (!take_amount(r, n, plain, UINT64_MAX, out))
		return false;
	if (*out < least || *out > most)
		return WRONG(r, n, "expected a number from %llu to %llu, found %llu",
			(unsigned long long)least, (unsigned long long)most,
			(unsigned long long)*out);
	return true;
}

static bool sweep_plan_take_time(
	struct sweep_plan_reader *r, const struct yaml_node *n, uint64_t *ms)
{
	static const struct unit_word units[] = {
		{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60000}, {"h", 3600000}, {NULL, 0}};

	return take_amount(r, n, units, MAX_TIME_MS, ms);
}

static bool take_bytes(struct sweep_plan_reader *r, const struct yaml_node *n, uint64_t *bytes)
{
	static const struct unit_word units[] = {{"MiB", 1 << 20}, {"GiB", 1 << 30},
		{"TiB", (uint64_t)1 << 40}, {"KiB", 1 << 10}, {"", 1}, {NULL, 0}};

	return take_amount(r, n, units, (uint64_t)1 << 60, bytes);
}

static bool take_flag(struct sweep_plan_reader *r, const struct yaml_node *n, bool *out)
{
	*out = n->kind == YAML_SCALAR && (str_is(n->text, "true") || str_is(n->text, "yes"));
	if (*out || (n->kind == YAML_SCALAR && (str_is(n->text, "false") || str_is(n->text, "no"))))
		return true;
	return WRONG(r, n, "expected true or false");
}

static bool sweep_plan_is_name(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return !*s;
}

static bool take_pairs(
	struct sweep_plan_reader *r, const struct yaml_node *n, struct sweep_pairs *out)
{
	if (n->kind != YAML_MAP)
		return WRONG(r, n, "expected names with values");
	out->v = arena_zalloc(&r->p->arena, n->n + 1, sizeof(*out->v));
	if (!out->v)
		return err_nomem(r->e);
	for (const struct yaml_node *k = n->first; k; k = k->next) {
		if (!sweep_plan_is_name(k->key))
			return WRONG(r, k, "'%s' is no name: letters, digits and _", k->key);
		out->v[out->n].name = k->key;
		if (!take_scalar(r, k, &out->v[out->n++].value))
			return false;
	}
	return true;
}

/* Reads a map with known keys. */
static bool take_map(struct sweep_plan_reader *r, const struct yaml_node *n, const struct key *keys)
{
	if (n->kind != YAML_MAP)
		return WRONG(r, n, "expected names with values");
	for (const struct yaml_node *k = n->first; k; k = k->next) {
		const struct key *x = keys;

		while (x->name && strcmp(x->name, k->key) != 0)
			x++;
		if (!x->name)
			return WRONG(r, k, "a plan has no '%s' here", k->key);
		if (!x->take(r, k))
			return false;
	}
	return true;
}

/* --- the matrix --- */

static bool is_param(const struct sweep_plan *p, const char *name)
{
	for (size_t i = 0; i < p->n_axes; i++)
		for (size_t k = 0; k < p->axes[i].values[0].n; k++)
			if (strcmp(p->axes[i].values[0].v[k].name, name) == 0)
				return true;
	return false;
}

/* Reads one value of an axis: a scalar sets the parameter named like the axis. */
static bool sweep_plan_take_value(struct sweep_plan_reader *r, const struct yaml_node *n,
	const char *axis, const struct sweep_pairs *first, struct sweep_pairs *out)
{
	if (n->kind == YAML_SCALAR) {
		out->v = arena_zalloc(&r->p->arena, 1, sizeof(*out->v));
		if (!out->v)
			return err_nomem(r->e);
		out->n = 1;
		out->v[0] = (struct sweep_pair){axis, {n->text.p, n}};
	} else if (!take_pairs(r, n, out)) {
		return false;
	}
	for (size_t i = 0; i < out->n && out != first; i++)
		if (out->n != first->n || strcmp(out->v[i].name, first->v[i].name) != 0)
			return WRONG(r, n,
				"every value of '%s' sets the same parameters, in one order", axis);
	return out->n == first->n || WRONG(r, n, "a value of '%s' sets nothing", axis);
}

static bool take_axis(struct sweep_plan_reader *r, const struct yaml_node *n)
{
	static const char *const OWN[] = {
		"out", "base", "cell", "repeat", "attempt", "devices", "device"};
	struct sweep_plan *p = r->p;
	struct sweep_axis x = {0};

	if (!sweep_plan_is_name(n->key))
		return WRONG(r, n, "'%s' is no name: letters, digits and _", n->key);
	if (n->kind != YAML_LIST || !n->n)
		return WRONG(r, n, "expected a list of values of '%s'", n->key);
	x.values = arena_zalloc(&p->arena, n->n, sizeof(*x.values));
	if (!x.values)
		return err_nomem(r->e);
	for (const struct yaml_node *k = n->first; k; k = k->next, x.n++)
		if (!sweep_plan_take_value(r, k, n->key, x.values, &x.values[x.n]))
			return false;
	for (size_t i = 0; i < x.values[0].n; i++) {
		const char *name = x.values[0].v[i].name;

		if (is_param(p, name))
			return WRONG(r, n, "two axes set '%s'", name);
		for (size_t k = 0; k < sizeof(OWN) / sizeof(*OWN); k++)
			if (strcmp(name, OWN[k]) == 0)
				return WRONG(r, n, "'{%s}' means something else already", name);
	}
	if (x.n > SWEEP_MAX_TASKS / p->n_cells)
		return WRONG(r, n, "more than %u cells", SWEEP_MAX_TASKS);
	p->n_cells *= x.n;
	p->axes[p->n_axes++] = x;
	return true;
}

static bool take_matrix(struct sweep_plan_reader *r, const struct yaml_node *n)
{
	if (n->kind != YAML_MAP)
		return WRONG(r, n, "expected parameters with lists of values");
	r->p->axes = arena_zalloc(&r->p->arena, n->n + 1, sizeof(*r->p->axes));
	if (!r->p->axes)
		return err_nomem(r->e);
	for (const struct yaml_node *k = n->first; k; k = k->next)
		if (!take_axis(r, k))
			return false;
	return true;
}

static bool take_exclude(struct sweep_plan_reader *r, const struct yaml_node *n)
{
	struct sweep_plan *p = r->p;

	if (n->kind != YAML_LIST)
		return WRONG(r, n, "expected a list of parameters with values");
	p->excludes = arena_zalloc(&p->arena, n->n + 1, sizeof(*p->excludes));
	if (!p->excludes)
		return err_nomem(r->e);
	for (const struct yaml_node *k = n->first; k; k = k->next)
		if (!take_pairs(r, k, &p->excludes[p->n_excludes++]))
			return false;
	return true;
}

/* --- what is run --- */

static bool sweep_plan_take_command(
	struct sweep_plan_reader *r, const struct yaml_node *n, enum sweep_kind kind)
{
	struct sweep_plan *p = r->p;

	if (r->has_command)
		return WRONG(r, n, "a plan has one of run, shell, capture, profile and replay");
	r->has_command = true;
	p->kind = kind;
	if (kind == SWEEP_SHELL) {
		p->command.v = arena_zalloc(&p->arena, 1, sizeof(*p->command.v));
		p->command.n = 1;
		return p->command.v ? take_scalar(r, n, p->command.v) : err_nomem(r->e);
	}
	return sweep_plan_take_list(r, n, &p->command) &&
	       (p->command.n || WRONG(r, n, "expected a list of words"));
}

static bool sweep_plan_take_run(struct sweep_plan_reader *r, const struct yaml_node *n)
{
	return sweep_plan_take_command(r, n, SWEEP_COMMAND);
}

static bool take_shell(struct sweep_plan_reader *r, const struct yaml_node *n)
{
	return sweep_plan_take_command(r, n, SWEEP_SHELL);
}

static bool sweep_plan_take_capture(struct sweep_plan_reader *r, const struct yaml_node *n)
{
	return sweep_plan_take_command(r, n, SWEEP_CAPTURE);
}

static bool take_profile(struct sweep_plan_reader *r, const struct yaml_node *n)
{
	return sweep_plan_take_command(r, n, SWEEP_PROFILE);
}

static bool take_replay(struct sweep_plan_reader *r, const struct yaml_node *n)
{
	return sweep_plan_take_command(r, n, SWEEP_REPLAY);
}

/* --- keys --- */

#define TAKER(NAME, CALL)                                                                          \
	static bool NAME(struct sweep_plan_reader *r, const struct yaml_node *n)                   \
	{                                                                                          \
		return CALL;                                                                       \
	}
TAKER(take_name, sweep_plan_take_word(r, n, &r->p->name))
TAKER(take_outputs, sweep_plan_take_list(r, n, &r->p->outputs))
TAKER(take_captures, sweep_plan_take_list(r, n, &r->p->captures))
TAKER(take_records, sweep_plan_take_list(r, n, &r->p->records))
TAKER(take_env, take_pairs(r, n, &r->p->env))
TAKER(take_cwd, take_scalar(r, n, &r->p->cwd))
TAKER(take_repeats, take_count(r, n, 1, 1000, &r->p->repeats))
TAKER(take_retries, take_count(r, n, 0, 100000, &r->p->retries))
TAKER(take_timeout, sweep_plan_take_time(r, n, &r->p->timeout_ms))
TAKER(take_need_devices, take_count(r, n, 0, 32, &r->p->needs.devices))
TAKER(take_need_cpus, take_count(r, n, 1, 4096, &r->p->needs.cpus))
TAKER(take_need_memory, take_bytes(r, n, &r->p->needs.memory_bytes))
TAKER(take_exclusive, take_flag(r, n, &r->p->needs.is_exclusive))
TAKER(take_slots, take_count(r, n, 1, 4096, &r->p->pool.slots))
TAKER(take_pool_memory, take_bytes(r, n, &r->p->pool.memory_bytes))
TAKER(take_health_timeout, sweep_plan_take_time(r, n, &r->p->pool.health_ms))
TAKER(take_leases, sweep_plan_take_word(r, n, &r->p->pool.leases))
TAKER(take_partition, sweep_plan_take_word(r, n, &r->p->slurm.partition))
TAKER(take_gres, sweep_plan_take_word(r, n, &r->p->slurm.gres))
TAKER(take_options, sweep_plan_take_list(r, n, &r->p->slurm.options))
TAKER(take_throttle, take_count(r, n, 1, 100000, &r->p->slurm.throttle))
TAKER(take_poll, sweep_plan_take_time(r, n, &r->p->slurm.poll_ms))

/* A copy of the plan is kept beside the results, readable for everyone who may read those: so no
 * passwords. */
static bool take_store(struct sweep_plan_reader *r, const struct yaml_node *n)
{
	ptrdiff_t scheme, at;

	if (!sweep_plan_take_word(r, n, &r->p->store))
		return false;
	scheme = str_find(n->text, "://");
	at = str_find(n->text, "@");
	if (scheme < 0 || (!str_has(n->text, "password=") &&
				  !str_has(str_sub(n->text, (size_t)scheme + 3,
						   at > scheme ? (size_t)(at - scheme) - 3 : 0),
					  ":")))
		return true;
	return WRONG(r, n, "a plan has no password: ~/.pgpass or PGPASSWORD is the place for it");
}

static bool sweep_plan_take_devices(struct sweep_plan_reader *r, const struct yaml_node *n)
{
	struct sweep_texts *d = &r->p->pool.devices;

	if (n->kind == YAML_SCALAR && str_is(n->text, "found"))
		return true;
	if (!sweep_plan_take_list(r, n, d))
		return false;
	for (size_t i = 0; i < d->n; i++) {
		const char *colon = strchr(d->v[i].text, ':');
		size_t k = colon ? strspn(colon + 1, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;

		if (!k || colon[1 + k] || !isalpha((unsigned char)*d->v[i].text))
			return WRONG(r, d->v[i].at,
				"expected KIND:NUMBER, such as amd:0, found '%s'", d->v[i].text);
		for (size_t j = 0; j < i; j++)
			if (strcmp(d->v[i].text, d->v[j].text) == 0)
				return WRONG(r, d->v[i].at, "'%s' is named twice", d->v[i].text);
	}
	return true;
}

static bool take_health(struct sweep_plan_reader *r, const struct yaml_node *n)
{
	r->p->pool.has_no_health = n->kind == YAML_SCALAR && str_is(n->text, "none");
	return r->p->pool.has_no_health || sweep_plan_take_list(r, n, &r->p->pool.health);
}

static const struct key need_keys[] = {{"devices", take_need_devices}, {"cpus", take_need_cpus},
	{"memory", take_need_memory}, {"exclusive", take_exclusive}, {NULL, NULL}};
static const struct key pool_keys[] = {{"devices", sweep_plan_take_devices},
	{"health", take_health}, {"health-timeout", take_health_timeout}, {"slots", take_slots},
	{"memory", take_pool_memory}, {"leases", take_leases}, {NULL, NULL}};
static const struct key slurm_keys[] = {{"partition", take_partition}, {"gres", take_gres},
	{"options", take_options}, {"throttle", take_throttle}, {"poll", take_poll}, {NULL, NULL}};
TAKER(take_needs, take_map(r, n, need_keys))
TAKER(take_pool, take_map(r, n, pool_keys))
TAKER(take_slurm, take_map(r, n, slurm_keys))
static const struct key plan_keys[] = {{"name", take_name}, {"matrix", take_matrix},
	{"exclude", take_exclude}, {"run", sweep_plan_take_run}, {"shell", take_shell},
	{"capture", sweep_plan_take_capture}, {"profile", take_profile}, {"replay", take_replay},
	{"outputs", take_outputs}, {"captures", take_captures}, {"record", take_records},
	{"env", take_env}, {"cwd", take_cwd}, {"repeats", take_repeats}, {"retries", take_retries},
	{"timeout", take_timeout}, {"needs", take_needs}, {"pool", take_pool},
	{"slurm", take_slurm}, {"store", take_store}, {NULL, NULL}};

/* --- the whole --- */

static bool check_texts(struct sweep_plan_reader *r, const struct sweep_texts *t, bool is_of_device)
{
	for (size_t i = 0; i < t->n; i++)
		if (!sweep_check_text(r->p, &t->v[i], is_of_device, r->e))
			return false;
	return true;
}

static bool check_excludes(struct sweep_plan_reader *r)
{
	const struct sweep_plan *p = r->p;

	for (size_t i = 0; i < p->n_excludes; i++)
		for (size_t k = 0; k < p->excludes[i].n; k++)
			if (!is_param(p, p->excludes[i].v[k].name))
				return WRONG(r, p->excludes[i].v[k].value.at,
					"'%s' is no parameter of the matrix",
					p->excludes[i].v[k].name);
	return true;
}

/* Checks that need the whole plan. */
static bool check_plan(struct sweep_plan_reader *r, const struct yaml_node *root)
{
	struct sweep_plan *p = r->p;

	if (!r->has_command)
		return WRONG(r, root, "expected one of run, shell, capture, profile and replay");
	for (size_t i = 0; i < p->records.n; i++)
		if (!sweep_plan_is_name(p->records.v[i].text))
			return WRONG(r, p->records.v[i].at, "'%s' is no name of a variable",
				p->records.v[i].text);
	for (size_t i = 0; i < p->env.n; i++)
		if (!sweep_check_text(p, &p->env.v[i].value, false, r->e))
			return false;
	if (p->n_cells > SWEEP_MAX_TASKS / p->repeats)
		return WRONG(r, root, "more than %u cells with their repeats", SWEEP_MAX_TASKS);
	p->n_tasks = p->n_cells * p->repeats;
	return check_texts(r, &p->command, false) && check_texts(r, &p->outputs, false) &&
	       check_texts(r, &p->captures, false) && check_texts(r, &p->pool.health, true) &&
	       check_excludes(r) && (!p->cwd.text || sweep_check_text(p, &p->cwd, false, r->e));
}

bool sweep_plan_read(
	struct sweep_plan *p, struct str text, const char *path, struct incore_error *e)
{
	struct sweep_plan_reader r = {.p = p, .e = e};
	struct yaml_node *root = NULL;

	*p = (struct sweep_plan){.path = path,
		.repeats = 1,
		.retries = DEFAULT_RETRIES,
		.n_cells = 1,
		.needs = {.cpus = 1},
		.pool = {.health_ms = DEFAULT_HEALTH_MS},
		.slurm = {.poll_ms = DEFAULT_POLL_MS}};
	arena_init(&p->arena);
	p->path = arena_strdup(&p->arena, path);
	if (!p->path)
		err_nomem(e);
	else if (yaml_parse(&p->arena, text, path, &root, e) && take_map(&r, root, plan_keys) &&
		 check_plan(&r, root))
		return true;
	sweep_plan_deinit(p);
	return false;
}

void sweep_plan_deinit(struct sweep_plan *p)
{
	arena_deinit(&p->arena);
	*p = (struct sweep_plan){0};
}
