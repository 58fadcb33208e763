/* SPDX-License-Identifier: Apache-2.0 */
/* validate.c: times each published row and compares it with its figure. */
#include "model/lab/validate_internal.h"

#include "args/spec.h"
#include "model/record/record_internal.h"

#define MAX_RUNS 64

struct run { /* a kernel that was timed */
	enum v_work work;
	int64_t par[5];
	const char *profile;
	uint64_t total, busy[ENGINE_PIPES], n_ops[ENGINE_PIPES];
};

struct job {
	const struct validate_options *o;
	struct validate_result *out;
	struct incore_error *e;
	char *dir; /* of the recorder */
	struct run runs[MAX_RUNS];
	unsigned n_runs;
};

const char *validate_role_name(enum validate_role r)
{
	static const char *const names[ROW_ROLES] = {"FIT", "CHECK", "OP"};

	return (unsigned)r < ROW_ROLES ? names[r] : "?";
}

/* --- kernels --- */

static bool put_args(const struct v_case *v, struct strbuf *w)
{
	const int64_t *p = v->par;
	long long a = p[0], b = p[1], c = p[2], d = p[3], m = p[4] / 100, n = p[4] % 100;

	switch (v->work) {
	case W_VECTOR_ADD: /* repeats, adds, buffers, tiles */
		return sb_printf(w,
			"0=f16[%lld] 1=f16[%lld] 2=f16[%lld]:out 3=i64:%lld 4=i64:%lld 5=i64:%lld 6=i64:%lld",
			a * d * 128, a * d * 128, a * d * 128, a, b, c, d);
	case W_GEMM: /* M blocks, N blocks, K steps, row of C */
		return sb_printf(w,
			"0=f16[%lld,%lld] 1=f16[%lld,%lld] 2=f32[%lld,%lld]:out 3=i64:%lld 4=i64:%lld 5=i64:%lld 6=i64:%lld",
			a * 128, c * 64, b * 256, c * 64, a * 128, d, a, b, c, d);
	case W_CONV: /* c1, h, w, n, blocks */
		return sb_printf(w,
			"0=f16[%lld,%lld,%lld,16] 1=f16[%lld,%lld,16,16] 2=f16[%lld,%lld]:out 3=i64:%lld 4=i64:%lld 5=i64:%lld 6=i64:%lld 7=i64:%lld 8=i64:%lld",
			a, b, c, 9 * a, d / 16, m * 128, d, a, b, c, d, m, n);
	case W_TOPK: /* rows, half */
		return sb_printf(w,
			"0=%s[%lld,1280] 1=u32[1024] 2=%s[%lld,%d]:out 3=u32[%lld,%d]:out 4=i64:%lld 5=i64:%lld",
			b ? "f16" : "f32", a, b ? "f16" : "f32", a, b ? 1008 : 1000, a,
			b ? 1008 : 1000, a, b);
	default: /* fp4, M, K, N */
		return sb_printf(w,
			"0=u8[%lld,%lld] 1=u8[%lld,%lld] 2=u8[%lld,%lld] 3=u8[%lld,%lld] 4=bf16[%lld,%lld]:out 5=i64:%lld 6=i64:%lld 7=i64:%lld 8=i64:%lld",
			b, a ? c / 2 : c, d, a ? c / 2 : c, b, c / 32, c / 32, d, b, d, a, b, c, d);
	}
}

static bool read_args(const struct v_case *v, struct args *spec, struct incore_error *e)
{
	struct strbuf words = {0};
	bool ok = put_args(v, &words) || err_nomem(e);

	for (char *at = words.p; ok && at && *at;) {
		char *end = strchr(at, ' ');

		if (end)
			*end++ = 0;
		ok = args_add_word(spec, at, e);
		at = end ? end : at + strlen(at);
	}
	sb_free(&words);
	return ok;
}

static bool record(struct job *j, const struct v_case *v, struct opstream_set *set)
{
	static const char *const files[W_COUNT] = {"validate/vector_add.cpp", "validate/gemm.cpp",
		"validate/conv2d.cpp", "validate/topk.cpp", "validate/mx_matmul.cpp"};
	bool is_aiv = v->work == W_VECTOR_ADD || v->work == W_TOPK;
	struct args spec;
	struct record_options o = {.arch = v->work == W_MX ? ARCH_A5 : ARCH_A2A3,
		.cores = is_aiv ? KERNEL_ON_AIV : KERNEL_ON_AIC,
		.blocks = 1,
		.args = &spec,
		.recorder_dir = j->o->recorder_dir,
		.cache_dir = j->o->cache_dir,
		.compiler = j->o->compiler,
		.is_unsafe = j->o->is_unsafe};
	struct record_info info;
	char *path = path_join(j->dir, files[v->work]);
	bool ok = path || err_nomem(j->e);

	args_init(&spec);
	o.kernel = path;
	ok = ok && read_args(v, &spec, j->e) && record_kernel(&o, set, &info, j->e);
	args_deinit(&spec);
	mem_free(path);
	return ok;
}

static bool load_profile(struct job *j, const char *name, struct profile *p)
{
	enum opstream_arch arch = strcmp(name, "a5") == 0 ? ARCH_A5 : ARCH_A2A3;

	if (j->o->profile) {
		if (!profile_load(p, j->o->profile, arch, j->e))
			return false;
		if (p->arch == arch)
			return true;
		profile_deinit(p);
	}
	return profile_load(p, name, arch, j->e);
}

/* Number of cores that ran it, and the share of a core's first reads that no other core has made:
 * from the grids of the published kernels. */
static unsigned put_load(const struct v_case *v, uint16_t cold_permille[OPSTREAM_SLOTS])
{
	for (unsigned i = 0; i < OPSTREAM_SLOTS; i++)
		cold_permille[i] = 1000;
	if (v->work == W_VECTOR_ADD)
		return v->par[4] ? (unsigned)v->par[4] : 1;
	if (v->work == W_TOPK)
		return 48;
	cold_permille[0] = 1000 / 6; /* in the 4 x 6 grid a row reads the same rows of A */
	cold_permille[1] = 1000 / 4;
	return 24;
}

static bool time_case(struct job *j, const struct v_case *v, struct run *r)
{
	uint16_t cold_permille[OPSTREAM_SLOTS];
	struct profile p;
	struct engine_options o = {.profile = &p,
		.find_races = true,
		.active_permille = 1000 * put_load(v, cold_permille),
		.cold_permille = cold_permille};
	struct opstream_set set;
	struct timed t;
	uint64_t before;
	bool ok;

	if (!load_profile(j, v->profile, &p))
		return false;
	opstream_set_init(&set);
	ok = record(j, v, &set);
	before = record_now_us();
	ok = ok && engine_run(&set, &o, &t, j->e);
	if (ok) {
		const struct timed_core *c = &t.cores.v[0];

		j->out->engine_us += record_now_us() - before;
		j->out->n_kernels++;
		j->out->n_ops += t.n_ops;
		j->out->n_findings += t.findings.n;
		r->total = c->end_cyc;
		if (v->work != W_VECTOR_ADD) /* its published totals start with the task */
			r->total += (uint64_t)p.k[K_TASK_LAUNCH].e4 / PROF_ONE;
		r->profile = arena_strdup(&j->out->arena, p.name);
		for (unsigned i = 0; i < ENGINE_PIPES; i++) {
			r->busy[i] = c->lanes[i].busy_cyc;
			r->n_ops[i] = c->lanes[i].n_ops;
		}
		timed_deinit(&t);
	}
	opstream_set_deinit(&set);
	profile_deinit(&p);
	return ok && (r->profile || err_nomem(j->e));
}

/* Rows of one kernel share its run. */
static const struct run *run_of(struct job *j, const struct v_case *v)
{
	struct run *r;

	for (unsigned i = 0; i < j->n_runs; i++)
		if (j->runs[i].work == v->work &&
			memcmp(j->runs[i].par, v->par, sizeof(v->par)) == 0)
			return &j->runs[i];
	if (j->n_runs == MAX_RUNS) {
		err_set(j->e, INCORE_FAILED, "internal", "too many kernels");
		return NULL;
	}
	if (j->o->progress)
		j->o->progress(j->o->progress_ctx, v->id);
	r = &j->runs[j->n_runs];
	if (!time_case(j, v, r))
		return NULL;
	r->work = v->work;
	memcpy(r->par, v->par, sizeof(v->par));
	j->n_runs++;
	return r;
}

/* --- rows --- */

static bool add_row(struct job *j, struct validate_row r)
{
	int64_t base = r.estimate < r.published ? r.published : r.published_to;

	if (!(r.estimate >= r.published && r.estimate <= r.published_to) && base > 0)
		r.error_permille = (int64_t)(((__int128)(r.estimate - base) * 2000 +
						     (r.estimate < base ? -base : base)) /
					     ((__int128)2 * base));
	r.is_met = true;
	if (r.gate_permille) {
		int64_t off = r.error_permille < 0 ? -r.error_permille : r.error_permille;

		r.is_met = off <= (int64_t)r.gate_permille;
		j->out->n_gates++;
		j->out->n_missed += !r.is_met;
	}
	return VEC_PUSH(&j->out->rows, r) || err_nomem(j->e);
}

static int64_t thousandths(uint64_t num, uint64_t den)
{
	return den ? (int64_t)(((unsigned __int128)num * 1000 + den / 2) / den) : 0;
}

static uint64_t clock_of(struct job *j, const char *name)
{
	struct profile p;
	uint64_t mhz_e4;

	if (!load_profile(j, name, &p))
		return 0;
	mhz_e4 = (uint64_t)p.k[K_CLOCK_MHZ].e4;
	profile_deinit(&p);
	return mhz_e4;
}

static int64_t measure(const struct v_measure *m, const struct run *r, uint64_t mhz_e4)
{
	switch (m->kind) {
	case V_TOTAL:
		return thousandths(r->total * PROF_ONE, mhz_e4);
	case V_BUSY_US:
		return thousandths(r->busy[m->pipe] * PROF_ONE, mhz_e4);
	case V_BUSY_PCT:
		return thousandths(r->busy[m->pipe] * 100, r->total);
	default:
		return thousandths(r->busy[m->pipe], r->n_ops[m->pipe]);
	}
}

static const char *what_of(const struct v_measure *m)
{
	static const char *const busy[ENGINE_PIPES] = {"SCALAR busy", "V busy", "MTE1 busy",
		"MTE2 busy", "MTE3 busy", "cube busy", "", "FIX busy"};

	return m->kind == V_TOTAL	  ? "total"
	       : m->kind == V_BUSY_PER_OP ? "V busy per op"
					  : busy[m->pipe];
}

static bool add_case(struct job *j, const struct v_case *v)
{
	const struct run *r = run_of(j, v);
	uint64_t mhz_e4 = r ? clock_of(j, v->profile) : 0;

	if (!r || !mhz_e4)
		return false;
	for (unsigned i = 0; i < sizeof(v->m) / sizeof(v->m[0]) && v->m[i].kind != V_END; i++) {
		const struct v_measure *m = &v->m[i];
		struct validate_row row = {.id = v->id,
			.name = v->name,
			.what = what_of(m),
			.unit = m->kind == V_BUSY_PCT	   ? "%"
				: m->kind == V_BUSY_PER_OP ? "cyc"
							   : "us",
			.profile = r->profile,
			.role = v->role,
			.remark = v->remark,
			.published = m->from,
			.published_to = m->to ? m->to : m->from,
			.estimate = measure(m, r, mhz_e4),
			.gate_permille = m->gate};

		if (!add_row(j, row))
			return false;
	}
	return true;
}

/* --- single ops --- */

static struct op_opnd *tile(struct op_desc *d, enum op_role role, enum op_dtype t, uint32_t rows,
	uint32_t cols, uint32_t vcols)
{
	struct op_opnd *o = op_desc_tile(d, role, t, rows, cols, UINT64_C(0x10000) * d->n_opnds);

	OPND_VCOL(o) = vcols ? vcols : cols;
	return o;
}

static struct op_desc desc_of(const struct v_op *v)
{
	bool is_dma = v->form == VF_LOAD || v->form == VF_STORE;
	struct op_desc d = op_desc_of(OPK_OP,
		v->form == VF_LOAD    ? OPP_MTE2
		: v->form == VF_STORE ? OPP_MTE3
				      : OPP_V,
		v->op, 1);
	unsigned n_src = v->form == VF_TWO ? 2 : v->form == VF_SEL ? 3 : 1;

	if (v->form == VF_STORE)
		op_desc_gm(&d, ROLE_DST, v->dtype, v->gm, 0, 0);
	else
		tile(&d, ROLE_DST, v->dtype, v->form == VF_COLRED ? 1 : v->rows,
			v->form == VF_REDUCE ? 8 : v->cols, v->form == VF_REDUCE ? 1 : v->vcols);
	if (v->form == VF_LOAD)
		op_desc_gm(&d, ROLE_SRC, v->dtype, v->gm, 0, 0)->layout =
			v->is_dn ? LAYOUT_DN : LAYOUT_ND;
	if (v->form == VF_STORE)
		tile(&d, ROLE_SRC, v->dtype, v->rows, v->cols, v->vcols);
	for (unsigned i = 0; !is_dma && i < n_src; i++)
		tile(&d, ROLE_SRC, v->form == VF_CVT ? v->from : v->dtype, v->rows, v->cols,
			v->vcols);
	if (v->form == VF_SCALAR)
		op_desc_scalar(&d, ROLE_VALUE, 0);
	return d;
}

static bool add_op(struct job *j, const struct v_op *v)
{
	struct validate_row row = {.id = v->id,
		.name = "single op",
		.what = v->name,
		.unit = "cyc",
		.role = ROW_OP,
		.remark = v->may_fit	    ? "F"
			  : v->id[1] == '2' ? "C"
					    : "",
		.published = v->cyc,
		.published_to = v->cyc_to ? v->cyc_to : v->cyc};
	struct op_desc d = desc_of(v);
	struct opstream_set set;
	struct opstream *s;
	struct profile p;
	struct timed t;
	bool ok;

	if (!load_profile(j, v->profile, &p))
		return false;
	p.dma_serial = p.dma_serial || v->is_serial;
	opstream_set_init(&set);
	s = opstream_set_new(&set, j->e);
	ok = s && opstream_push(s, &d, j->e) && opstream_seal(s, j->e);
	if (ok)
		s->core = CORE_AIV;
	ok = ok && engine_run(&set, &(struct engine_options){.profile = &p, .keep_slices = true},
			   &t, j->e);
	if (ok) {
		row.profile = arena_strdup(&j->out->arena, p.name);
		row.estimate = (int64_t)t.cores.v[0].lanes[d.form.pipe].slices.v[0].dur * 1000;
		timed_deinit(&t);
		ok = row.profile ? add_row(j, row) : err_nomem(j->e);
	}
	opstream_set_deinit(&set);
	profile_deinit(&p);
	return ok;
}

/* --- flags of a single hand-over --- */

static bool add_flag_rows(struct job *j)
{
	struct profile p;
	int64_t set, wait;

	if (!load_profile(j, "910b2", &p))
		return false;
	set = p.k[K_FLAG_SET].e4 / (PROF_ONE / 1000);
	wait = p.k[K_FLAG_WAIT].e4 / (PROF_ONE / 1000);
	profile_deinit(&p);
	return add_row(j, (struct validate_row){"O1", "single op", "SET", "cyc", "910b2", ROW_OP,
				  "", 1000, 1000, set, 0, 0, true}) &&
	       add_row(j, (struct validate_row){"O1", "single op", "WAIT", "cyc", "910b2", ROW_OP,
				  "", 1000, 1000, wait, 0, 0, true}) &&
	       add_row(j, (struct validate_row){"O1", "single op", "MTE2 to V hand-over", "cyc",
				  "910b2", ROW_OP, "", 7000, 7000, set + wait, 0, 0, true});
}

/* --- all --- */

static bool find_recorder(struct job *j)
{
	struct record_options o = {.recorder_dir = j->o->recorder_dir,
		.cache_dir = j->o->cache_dir,
		.compiler = j->o->compiler,
		.is_unsafe = j->o->is_unsafe};
	struct record_tools t = {0};
	bool ok = record_tools_find(&t, &o, j->e);

	if (ok) {
		j->dir = mem_strndup(t.recorder_dir, strlen(t.recorder_dir));
		ok = j->dir || err_nomem(j->e);
		record_tools_free(&t);
	}
	return ok;
}

bool validate_run(
	const struct validate_options *o, struct validate_result *out, struct incore_error *e)
{
	struct job *j = mem_zalloc(1, sizeof(*j));
	bool ok;

	*out = (struct validate_result){0};
	arena_init(&out->arena);
	if (!j)
		return err_nomem(e);
	*j = (struct job){.o = o, .out = out, .e = e};
	ok = o->ops_only || find_recorder(j);
	for (size_t i = 0; ok && !o->ops_only && i < VALIDATE_CASES_N; i++)
		ok = add_case(j, &VALIDATE_CASES[i]) ||
		     err_wrap(e, "row %s, %s", VALIDATE_CASES[i].id, VALIDATE_CASES[i].name);
	ok = ok && add_flag_rows(j);
	for (size_t i = 0; ok && i < VALIDATE_OPS_N; i++)
		ok = add_op(j, &VALIDATE_OPS[i]);
	mem_free(j->dir);
	mem_free(j);
	if (!ok)
		validate_deinit(out);
	return ok;
}

void validate_deinit(struct validate_result *r)
{
	VEC_FREE(&r->rows);
	arena_deinit(&r->arena);
}
