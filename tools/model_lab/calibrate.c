/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibrate.c: least squares, pipe by pipe. A pipe's busy time is modelled as a sum over its ops,
 * which is linear in latencies and in the inverse of rates; these are the unknowns. Parts: counters
 * of a run; the fit.
 */
#include "model_lab/calibrate.h"

#include <math.h>

#include "base/file.h"
#include "base/hash.h"
#include "codec/csv.h"
#include "model_lab/least_squares.h"

/* --- counters of a run ------------------------------------------------------------------------ */

/* The counters of a run, one row per task. */

struct lab_columns {
	int task, func, core, type, total;
	int busy[ENGINE_PIPES];
};

/* Busy counters are recognised by parts of their name: "pmu_vec_busy_cycles",
 * "pmu_fix_instr_busy". */
static int find_busy(const struct csv_reader *c, const char *word)
{
	for (size_t i = 0; i < c->header.n; i++)
		if (str_has(c->header.v[i], word) && str_has(c->header.v[i], "busy"))
			return (int)i;
	return -1;
}

static bool find_columns(struct csv_reader *c, struct lab_columns *k, struct incore_error *e)
{
	static const struct {
		enum op_pipe pipe;
		const char *word;
	} words[] = {{OPP_S, "scalar"}, {OPP_V, "vec"}, {OPP_MTE1, "mte1"}, {OPP_MTE2, "mte2"},
		{OPP_MTE3, "mte3"}, {OPP_M, "cube"}, {OPP_FIX, "fix"}};
	bool any = false;

	*k = (struct lab_columns){csv_column(c, "task_id"), csv_column(c, "func_id"),
		csv_column(c, "core_id"), csv_column(c, "core_type"),
		csv_column(c, "pmu_total_cycles"), {-1, -1, -1, -1, -1, -1, -1, -1}};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		k->busy[words[i].pipe] = find_busy(c, words[i].word);
		any = any || k->busy[words[i].pipe] >= 0;
	}
	if (k->task < 0 || k->func < 0 || k->type < 0 || k->total < 0 || !any)
		return err_file(e, "bad-pmu", c->path, 0,
			"expected columns task_id, func_id, core_type, pmu_total_cycles and busy counters of pipes (vec, cube, scalar, mte1, mte2, mte3, fix)");
	return true;
}

static bool bad_field(const struct csv_reader *c, const char *name, struct incore_error *e)
{
	err_file(e, "bad-pmu", c->path, INCORE_NO_OFFSET, "%s is not a number", name);
	if (e)
		e->line = c->line;
	return false;
}

static bool read_row(const struct csv_reader *c, const struct lab_columns *k, struct pmu_row *r,
	struct incore_error *e)
{
	uint64_t type = 0;

	*r = (struct pmu_row){.line = c->line};
	if (!str_to_u64(csv_field(c, k->task), &r->task_id))
		return bad_field(c, "task_id", e);
	if (!str_to_u64(csv_field(c, k->func), &r->func_id))
		return bad_field(c, "func_id", e);
	if (!str_to_u64(csv_field(c, k->type), &type) || type > 1)
		return bad_field(c, "core_type (0 AIC, 1 AIV)", e);
	if (!str_to_u64(csv_field(c, k->total), &r->total_cyc))
		return bad_field(c, "pmu_total_cycles", e);
	if (k->core >= 0 && !str_to_u64(csv_field(c, k->core), &r->core_id))
		return bad_field(c, "core_id", e);
	r->core = type ? CORE_AIV : CORE_AIC;
	for (unsigned i = 0; i < ENGINE_PIPES; i++) {
		if (k->busy[i] < 0)
			continue;
		if (!str_to_u64(csv_field(c, k->busy[i]), &r->busy[i]))
			return bad_field(c, "a busy counter", e);
		r->has[i] = true;
	}
	return true;
}

static bool read_rows(struct pmu_rows *out, struct csv_reader *c, struct incore_error *e)
{
	struct lab_columns k;
	bool at_end = false, any = false;

	if (!csv_header(c, e) || !find_columns(c, &k, e))
		return false;
	while (csv_row(c, &at_end, e)) {
		struct pmu_row r;

		if (!read_row(c, &k, &r, e))
			return false;
		for (unsigned i = 0; i < ENGINE_PIPES; i++)
			any = any || r.busy[i];
		if (!VEC_PUSH(&out->v, r))
			return err_nomem(e);
	}
	if (!at_end)
		return false;
	if (out->v.n == 0)
		return err_file(e, "bad-pmu", c->path, INCORE_NO_OFFSET, "no rows");
	if (!any)
		return err_file(e, "bad-pmu", c->path, INCORE_NO_OFFSET,
			"all counters are zero: a simulator's run, not a device's");
	return true;
}

bool pmu_read(struct pmu_rows *out, const char *path, struct incore_error *e)
{
	struct file_data f = {0};
	struct csv_reader c;
	bool ok;

	*out = (struct pmu_rows){0};
	if (!file_load(&f, path, e))
		return false;
	csv_init(&c, f.data, f.size, path);
	ok = read_rows(out, &c, e);
	csv_deinit(&c);
	file_unload(&f);
	if (!ok)
		pmu_deinit(out);
	return ok;
}

void pmu_deinit(struct pmu_rows *r)
{
	VEC_FREE(&r->v);
}

/* --- the fit ---------------------------------------------------------------------------------- */

struct fit_key {
	enum prof_key key;
	enum op_pipe pipe;
	bool is_rate; /* the unknown is 1 / value */
};

static const struct fit_key FIT_KEYS[] = {
	{K_GM_RD_LAT, OPP_MTE2, false},
	{K_GM_UB_BW, OPP_MTE2, true},
	{K_GM_L1_BW, OPP_MTE2, true},
	{K_GM_WR_LAT, OPP_MTE3, false},
	{K_GM_WR_BW, OPP_MTE3, true},
	{K_L0A, OPP_MTE1, true},
	{K_L0B, OPP_MTE1, true},
	{K_MTE1_START, OPP_MTE1, false},
	{K_MAD_HEAD, OPP_M, false},
	{K_FIX_FIXED, OPP_FIX, false},
	{K_FIX_BW, OPP_FIX, true},
	{K_FIX_GM_BW, OPP_FIX, true},
	{K_FIX_ROW, OPP_FIX, false},
	{K_V_B2B, OPP_V, false},
};
#define N_FIT_KEYS (sizeof(FIT_KEYS) / sizeof(FIT_KEYS[0]))

static const struct fit_key *find_key(enum prof_key k)
{
	for (size_t i = 0; i < N_FIT_KEYS; i++)
		if (FIT_KEYS[i].key == k)
			return &FIT_KEYS[i];
	return NULL;
}

bool calib_parse_keys(struct calib_options *o, const char *list, struct incore_error *e)
{
	struct str rest = str_of(list), name;

	o->n_keys = 0;
	while (str_cut(&rest, ",", &name)) {
		enum prof_key k = prof_key_find(str_trim(name));
		struct strbuf known = {0};

		if (k != K_COUNT && find_key(k) && o->n_keys < CALIB_KEYS) {
			o->keys[o->n_keys++] = k;
			continue;
		}
		for (size_t i = 0; i < N_FIT_KEYS; i++)
			sb_printf(&known, "%s%s", i ? ", " : "", prof_key_name(FIT_KEYS[i].key));
		err_set(e, INCORE_USAGE, "bad-option-value",
			"'%.*s' cannot be fitted; choose among %s", STR_ARG(name),
			known.p ? known.p : "");
		sb_free(&known);
		return false;
	}
	return o->n_keys || err_set(e, INCORE_USAGE, "bad-option-value", "no constant to fit");
}

/* --- how a task depends on a constant --- */

/* The price of a form with one constant changed, in busy cycles of the pipe. */
static double cost(const struct profile *p, const struct opstream *s, const struct op_form *f)
{
	struct op_price q;

	price_form(p, s, f, &q);
	if (q.is_dma)
		return (double)q.n_dma * ((double)q.lat_cyc + (double)q.data_cyc);
	/* consecutive vector ops occupy the pipe without waiting for results */
	return (double)(f->pipe == OPP_V ? q.occ_cyc : q.lat_cyc);
}

/* Sum over the ops of a pipe. */
static double sum_cost(
	const struct profile *p, const struct opstream *s, const uint64_t *count, enum op_pipe pipe)
{
	double sum = 0;

	for (size_t i = 0; i < s->forms.n; i++)
		if (count[i] && s->forms.v[i].pipe == pipe && s->forms.v[i].kind == OPK_OP)
			sum += (double)count[i] * cost(p, s, &s->forms.v[i]);
	return sum;
}

/*
 * Busy cycles of the pipe according to the engine: overlapping latencies count once, as in a
 * hardware counter. One side of a mixed kernel cannot run alone, so for that it is the sum over its
 * ops.
 */
static double pipe_cost(
	const struct profile *p, const struct opstream *s, const uint64_t *count, enum op_pipe pipe)
{
	struct opstream_set alone = {.v = {.v = (struct opstream *)s, .n = 1, .cap = 1}};
	struct engine_options o = {.profile = p, .allow_unknown = true};
	struct timed t;
	double busy = -1;

	if (s->is_mixed || !engine_run(&alone, &o, &t, NULL))
		return sum_cost(p, s, count, pipe);
	if (t.is_complete)
		busy = (double)t.cores.v[0].lanes[pipe].busy_cyc;
	timed_deinit(&t);
	return busy >= 0 ? busy : sum_cost(p, s, count, pipe);
}

/*
 * How much the pipe's time changes with the unknown: the difference between the price with the
 * constant and with a quarter more of it (a quarter more latency; a rate that much lower). Removing
 * it completely would expose other constants, such as the gap between transfers.
 */
static double share(const struct profile *base, const struct opstream *s, const uint64_t *count,
	const struct fit_key *k)
{
	struct profile more = *base;
	double value = (double)base->k[k->key].e4 / PROF_ONE;
	double part;

	if (value <= 0)
		return 0;
	more.k[k->key].e4 = k->is_rate ? base->k[k->key].e4 * 4 / 5 : base->k[k->key].e4 * 5 / 4;
	part = 4 * (pipe_cost(&more, s, count, k->pipe) - pipe_cost(base, s, count, k->pipe));
	return k->is_rate ? part * value : part / value;
}

/* --- one pipe --- */

struct observation {
	double x[MAX_UNKNOWNS]; /* shares */
	double rest;		/* contribution of the other constants */
	double y;		/* measured */
	double base;		/* with the base profile */
	bool is_held;
};

struct pipe_fit {
	const struct calib_options *o;
	const struct fit_key *keys[MAX_UNKNOWNS];
	unsigned n_keys;
	enum op_pipe pipe;
	VEC(struct observation) obs;
};

static bool observe(struct pipe_fit *f, const struct calib_task *t, struct incore_error *e)
{
	const struct opstream *s = t->stream;
	uint64_t *count = mem_zalloc(s->forms.n + 1, sizeof(*count));
	struct observation x = {.y = (double)t->busy[f->pipe]};

	if (!count)
		return err_nomem(e);
	for (size_t i = 0; i < s->ops.n; i++)
		count[s->ops.v[i].form]++;
	x.base = x.rest = pipe_cost(f->o->base, s, count, f->pipe);
	for (unsigned i = 0; i < f->n_keys; i++) {
		double value = (double)f->o->base->k[f->keys[i]->key].e4 / PROF_ONE;

		x.x[i] = share(f->o->base, s, count, f->keys[i]);
		x.rest -= x.x[i] * (f->keys[i]->is_rate ? 1 / value : value);
	}
	x.is_held = hash_mix64(t->id + 1) % 1000 < f->o->hold_out_permille;
	mem_free(count);
	if (x.y <= 0 || x.base <= 0)
		return true; /* the pipe did nothing */
	return VEC_PUSH(&f->obs, x) || err_nomem(e);
}

static double predict(const struct pipe_fit *f, const struct observation *x, const double *theta)
{
	double sum = x->rest;

	for (unsigned i = 0; i < f->n_keys; i++)
		sum += x->x[i] * theta[i];
	return sum;
}

static unsigned mean_permille(const struct pipe_fit *f, const double *theta, int held)
{
	double sum = 0;
	size_t n = 0;

	EACH (const struct observation, x, f->obs.v, f->obs.n) {
		double got = theta ? predict(f, x, theta) : x->base;

		if (held >= 0 && x->is_held != (held == 1))
			continue;
		sum += fabs(got - x->y) / x->y;
		n++;
	}
	return n ? (unsigned)(sum / (double)n * 1000 + 0.5) : 0;
}

/* Minimises relative errors, so that short tasks count like long ones. */
static bool least_squares(struct pipe_fit *f, const bool *is_zero, double *theta)
{
	struct equations s = {0};
	unsigned at[MAX_UNKNOWNS] = {0};
	double x[MAX_UNKNOWNS], out[MAX_UNKNOWNS];

	for (unsigned i = 0; i < f->n_keys; i++)
		if (!is_zero[i])
			at[s.n++] = i;
	EACH (const struct observation, o, f->obs.v, f->obs.n) {
		if (o->is_held)
			continue;
		for (unsigned k = 0; k < s.n; k++)
			x[k] = o->x[at[k]];
		equations_add(&s, x, o->y - o->rest, 1 / (o->y * o->y));
	}
	if (s.n && !equations_solve(&s, out))
		return false;
	for (unsigned i = 0; i < f->n_keys; i++)
		theta[i] = 0;
	for (unsigned k = 0; k < s.n; k++)
		theta[at[k]] = out[k];
	return true;
}

static bool cannot(const struct pipe_fit *f, const char *why, struct incore_error *e)
{
	return err_set(e, INCORE_BAD_INPUT, "not-determined",
		"%s%s of %s cannot be fitted: %s (%zu tasks with %s)",
		prof_key_name(f->keys[0]->key), f->n_keys > 1 ? " and the other constants" : "",
		op_pipe_name(f->pipe), why, f->obs.n, op_pipe_name(f->pipe));
}

static bool fit_pipe(struct pipe_fit *f, struct calib_result *out, struct incore_error *e)
{
	bool is_zero[MAX_UNKNOWNS] = {false};
	double theta[MAX_UNKNOWNS];
	uint32_t n_held = 0;
	bool again = true;

	for (size_t i = 0; i < f->obs.n; i++)
		n_held += f->obs.v[i].is_held;
	if (f->obs.n - n_held < f->n_keys)
		return cannot(f, "fewer tasks than constants", e);
	while (again) {
		again = false;
		if (!least_squares(f, is_zero, theta))
			return cannot(f, "the tasks do not tell them apart", e);
		for (unsigned i = 0; i < f->n_keys; i++)
			if (theta[i] < 0) {
				is_zero[i] = again = true;
				break;
			}
	}
	for (unsigned i = 0; i < f->n_keys; i++) {
		double value = f->keys[i]->is_rate ? 1 / theta[i] : theta[i];
		struct calib_value *v = &out->v[out->n++];

		if (f->keys[i]->is_rate && (theta[i] <= 1e-6 || value > 1e6))
			return cannot(f, "a rate would be endless", e);
		*v = (struct calib_value){.key = f->keys[i]->key,
			.pipe = f->pipe,
			.old_e4 = f->o->base->k[f->keys[i]->key].e4,
			.new_e4 = (int64_t)(value * PROF_ONE + 0.5),
			.n_fit = (uint32_t)f->obs.n - n_held,
			.n_held = n_held,
			.residual_permille = mean_permille(f, theta, 0),
			.held_permille = n_held ? mean_permille(f, theta, 1) : 0,
			.old_permille = mean_permille(f, NULL, n_held ? 1 : -1)};
		if (f->keys[i]->is_rate && v->new_e4 == 0)
			v->new_e4 = 1;
	}
	return true;
}

bool calib_run(const struct calib_task *tasks, size_t n, const struct calib_options *o,
	struct calib_result *out, struct incore_error *e)
{
	bool ok = true;

	*out = (struct calib_result){0};
	for (unsigned pipe = 0; ok && pipe < ENGINE_PIPES; pipe++) {
		struct pipe_fit f = {.o = o, .pipe = (enum op_pipe)pipe};

		for (unsigned i = 0; i < o->n_keys && f.n_keys < MAX_UNKNOWNS; i++) {
			const struct fit_key *k = find_key(o->keys[i]);

			if (k && k->pipe == (enum op_pipe)pipe)
				f.keys[f.n_keys++] = k;
		}
		for (size_t i = 0; ok && f.n_keys && i < n; i++)
			if (tasks[i].has[pipe])
				ok = observe(&f, &tasks[i], e);
		ok = ok && (f.n_keys == 0 || fit_pipe(&f, out, e));
		VEC_FREE(&f.obs);
	}
	return ok;
}

/* --- the profile --- */

static void put_e4(FILE *f, int64_t e4)
{
	long long whole = (long long)(e4 / PROF_ONE), part = (long long)(e4 % PROF_ONE);

	if (part == 0)
		fprintf(f, "%lld", whole);
	else
		fprintf(f, "%lld.%04lld", whole, part);
}

/* Writes a text in double quotes, as YAML requires. */
static void put_quoted(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', f);
		if ((unsigned char)*text >= ' ')
			fputc(*text, f);
	}
	fputc('"', f);
}

static void put_residuals(FILE *f, const struct prof_residual *v)
{
	fputs("\nresiduals:\n", f);
	for (unsigned k = 0; k < KERNEL_KINDS; k++) {
		if (!v[k].kernels)
			continue;
		fprintf(f, "  %s: {kernels: %u, low: ", kernel_kind_name((enum kernel_kind)k),
			v[k].kernels);
		put_e4(f, v[k].low_e4[1]);
		fputs(", high: ", f);
		put_e4(f, v[k].high_e4[1]);
		fputs(", alone_low: ", f);
		put_e4(f, v[k].low_e4[0]);
		fputs(", alone_high: ", f);
		put_e4(f, v[k].high_e4[0]);
		fputs(", source: ", f);
		put_quoted(f, v[k].source);
		fputs("}\n", f);
	}
}

bool calib_write(const struct calib_result *r, const struct calib_options *o, const char *name,
	FILE *f, struct incore_error *e)
{
	fputs("# Constants fitted to measurements of this machine; the rest is the base's.\n"
	      "format: incore-profile\nversion: 1\nname: ",
		f);
	put_quoted(f, name);
	fprintf(f, "\nbase: %s\ncalibration: %s\n\nconstants:\n", o->base->name,
		o->status == STATUS_DEVICE ? "local-device" : "local-camodel");
	EACH (const struct calib_value, v, r->v, r->n) {
		struct strbuf source = {0};

		sb_printf(&source, "%s: %u tasks, residual %u.%u %%, held out %u tasks %u.%u %%",
			o->source, v->n_fit, v->residual_permille / 10, v->residual_permille % 10,
			v->n_held, v->held_permille / 10, v->held_permille % 10);
		if (source.failed) {
			sb_free(&source);
			return err_nomem(e);
		}
		fprintf(f, "  %s: {value: ", prof_key_name(v->key));
		put_e4(f, v->new_e4);
		fprintf(f, ", unit: %s, source: ",
			o->base->k[v->key].unit ? o->base->k[v->key].unit : "cyc");
		put_quoted(f, source.p);
		fprintf(f, ", status: %s}\n", prof_status_name(o->status));
		sb_free(&source);
	}
	if (o->residuals)
		put_residuals(f, o->residuals);
	return true;
}
