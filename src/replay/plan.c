/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c: decides which task is replayed, and which source runs on which core. Parts: the words of
 * the request; the task; members.
 */
#include "replay/plan.h"
#include "args/words.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/log.h"
#include "dump/read/select.h"
#include "dump/read/values.h"
#include "replay/source/classify.h"
#include "replay/source/kernel_config.h"
#include "replay/source/source_text.h"

#define MAX_BLOCKS 4096

/* --- the words of the request --- */

static bool take_funcs(const char *words, struct replay_plan *p, struct incore_error *e)
{
	struct str rest = str_of(words), part;

	for (; rest.n && str_cut(&rest, ",", &part); ++p->n_funcs) {
		int64_t id;

		if (p->n_funcs == PLAN_MAX_FUNCS || !str_to_i64(str_trim(part), &id) || id < 0 ||
			id > INT32_MAX)
			return err_set(e, INCORE_USAGE, "bad-option-value",
				"--func: expected func ids with commas between, found '%.*s'",
				STR_ARG(part));
		p->funcs[p->n_funcs] = (int32_t)id;
	}
	return true;
}

static bool take_identity(struct replay_plan *p, struct incore_error *e)
{
	const struct replay_request *q = p->q;

	p->has_task = q->task != NULL;
	if (q->task && !dump_task_parse(q->task, &p->task))
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--task: expected a task id in hex or decimal, found '%s'", q->task);
	if (q->block != NO_COUNT && q->block >= UINT32_MAX)
		return err_set(e, INCORE_USAGE, "bad-option-value", "--block: too large");
	if (q->n_blocks != NO_COUNT && (!q->n_blocks || q->n_blocks > MAX_BLOCKS))
		return err_set(
			e, INCORE_USAGE, "bad-option-value", "--blocks takes 1 to %d", MAX_BLOCKS);
	p->n_blocks = q->n_blocks == NO_COUNT ? 0 : (uint32_t)q->n_blocks;
	p->target = q->target == NO_CHOICE ? ARCH_A2A3 : (enum opstream_arch)q->target;
	return true;
}

/* Keeps the case that is asked for, or the first. */
static bool choose_case(struct replay_plan *p, struct arena *a, const config_cases *cases,
	uint32_t hidden_line, struct incore_error *e)
{
	const struct replay_request *q = p->q;
	const struct config_case *c;

	if (!cases->n && !q->case_name && !hidden_line)
		return true;
	c = config_case_find(cases, q->case_name, q->case_file, hidden_line, e);
	p->chosen = c ? arena_memdup(a, c, sizeof(*c)) : NULL;
	return c && (p->chosen || err_nomem(e));
}

/* Takes the sources of the func ids, or of a kernel name, from the list of the build (--case). */
static bool take_case(struct replay_plan *p, struct arena *a, struct incore_error *e)
{
	const struct replay_request *q = p->q;
	enum config_way way = !q->imports_case	   ? CONFIG_PARSED
			      : q->means.is_unsafe ? CONFIG_IMPORTED_UNSAFE
						   : CONFIG_IMPORTED;
	config_kernels kernels = {0};
	config_cases cases = {0};
	uint32_t hidden = 0;
	bool ok;

	if (!q->case_file)
		return (!q->kernel && way == CONFIG_PARSED) ||
		       err_set(e, INCORE_USAGE, "missing-option",
			       "%s is for a MODULE.py or --case FILE, and none is named",
			       q->kernel ? "--kernel NAME" : "--import-case");
	if (q->is_module ? (q->kernel != NULL) + !!p->n_funcs + !!q->sources.n != 1 &&
				   !(q->sources.n && p->n_funcs && !q->kernel)
			 : q->sources.n || !q->kernel == !p->n_funcs)
		return err_set(e, INCORE_USAGE, "contradiction",
			q->is_module
				? "a module takes one of --func, --kernel and --source"
				: "--case takes --func or --kernel, one of them, and no --source");
	ok = q->is_module
		     ? config_module_read(a, q->case_file, way, &kernels, &cases, &hidden, e) &&
			       choose_case(p, a, &cases, hidden, e)
		     : kernel_config_read(a, q->case_file, way, &kernels, e);
	VEC_FREE(&cases);
	if (ok && q->sources.n) {
		VEC_FREE(&kernels);
		return true;
	}
	p->n_funcs += q->kernel != NULL;
	for (unsigned i = 0; ok && i < p->n_funcs; i++) {
		const struct config_kernel *k =
			kernel_config_find(&kernels, q->kernel, p->funcs[i], e);

		ok = k != NULL;
		if (!ok)
			break;
		p->funcs[i] = (int32_t)k->func;
		p->name = p->n_funcs == 1 ? k->name : NULL;
		p->found[i] = k->source; /* too many are refused by plan_members() */
		if (!q->cores && i < REPLAY_MAX_MEMBERS)
			kernel_core_of(str_of(k->core), &p->cores[i]);
	}
	p->sources = p->found;
	p->n_sources = p->n_funcs;
	if (!q->dump) /* they only served to find the sources */
		p->n_funcs = 0;
	VEC_FREE(&kernels);
	return ok;
}

/* Parses a core, and the lanes of a vector core if they are given. */
static bool take_core(struct str word, enum kernel_core *core, uint8_t *lanes)
{
	static const char *const NAMES[] = {"aiv0", "aiv1", "aiv01"};

	for (uint8_t i = 0; i < 3; i++)
		if (str_is(word, NAMES[i])) {
			*core = KERNEL_ON_AIV;
			*lanes = i + 1;
			return true;
		}
	return kernel_core_of(word, core);
}

static bool take_cores(const char *words, struct replay_plan *p, struct incore_error *e)
{
	struct str rest = str_of(words), part;
	unsigned n = 0;

	for (; rest.n && str_cut(&rest, ",", &part); n++)
		if (n == REPLAY_MAX_MEMBERS ||
			!take_core(str_trim(part), &p->cores[n], &p->lanes[n]))
			return err_set(e, INCORE_USAGE, "bad-option-value",
				"--core: expected auto, aic, aiv, aiv0, aiv1, aiv01 or mix, once a source with commas between, found '%s'",
				words);
	return n == p->n_sources || err_set(e, INCORE_USAGE, "cores-and-sources",
					    "--core has %u words for %zu sources", n, p->n_sources);
}

bool plan_read(const struct replay_request *q, struct arena *a, struct replay_plan *out,
	struct incore_error *e)
{
	*out = (struct replay_plan){.q = q,
		.backend = backend_of(&q->means),
		.sources = q->sources.v,
		.n_sources = q->sources.n};
	return (!q->funcs || take_funcs(q->funcs, out, e)) && take_identity(out, e) &&
	       take_case(out, a, e) && (!q->cores || take_cores(q->cores, out, e));
}

/* --- sources --- */

struct source_facts {
	struct file_data file;
	struct strbuf masked;
	const char *path; /* absolute */
};

static void source_facts_free(struct source_facts *s)
{
	file_unload(&s->file);
	sb_free(&s->masked);
}

static bool read_source(
	struct arena *a, const char *path, struct source_facts *s, struct incore_error *e)
{
	char *full;

	if (!file_load(&s->file, path, e))
		return err_wrap(e, "kernel source");
	if (!source_mask((struct str){(const char *)s->file.data, s->file.size}, path, NULL,
		    &s->masked, e))
		return false;
	full = realpath(path, NULL);
	s->path = full ? arena_strdup(a, full) : NULL;
	free(full);
	if (!s->path)
		return err_nomem(e);
	if (!kernel_has_entry((struct str){s->masked.p ? s->masked.p : "", s->masked.n}))
		return err_file(e, "no-entry", path, INCORE_NO_OFFSET,
			"no kernel_entry(int64_t *args) in this source (comments and disabled regions do not count)");
	return true;
}

/* --- the task --- */

static bool dump_has_funcs(const struct dump *d)
{
	int32_t members[DUMP_MAX_MEMBERS];

	for (size_t i = 0; i < d->tasks.n; i++)
		for (unsigned n = dump_members_of(d, d->tasks.v[i].members, members); n > 0; n--)
			if (members[n - 1] >= 0)
				return true;
	return false;
}

static bool list_tasks(const struct dump *d, const char *why, struct incore_error *e)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < d->tasks.n && i < 24; i++)
		sb_printf(&b, "%s0x%016llx", i ? ", " : "", (unsigned long long)d->tasks.v[i].id);
	if (d->tasks.n > 24)
		sb_printf(&b, " and %zu more", d->tasks.n - 24);
	err_file(e, "no-task", d->manifest, INCORE_NO_OFFSET, "%s; its tasks: %s", why,
		b.p ? b.p : "none");
	sb_free(&b);
	return false;
}

/* The slots that the code of a source reads, as a task has them: 0 to the highest. */
static bool slots_of_source(const char *path, uint64_t *slots, struct incore_error *e)
{
	struct source_facts s = {0};
	struct arena scratch;
	bool ok;

	arena_init(&scratch);
	ok = read_source(&scratch, path, &s, e);
	*slots = ok ? kernel_slots_read((struct str){s.masked.p, s.masked.n}) : 0;
	*slots &= (UINT64_C(1) << ARG_CONTEXT_SLOT) - 1;
	while (*slots & (*slots + 1)) /* a slot below the highest may be unused */
		*slots |= *slots >> 1;
	source_facts_free(&s);
	arena_deinit(&scratch);
	return ok;
}

/* A dump without func ids: the task is found by its id, by the kernel's name, or by the slots that
 * the source reads; where several fit, they are listed with what tells them apart. */
static bool find_without_funcs(const struct dump *d, const struct replay_plan *p,
	struct task_query *query, uint32_t *task, struct incore_error *e)
{
	task_list found = {0};
	bool ok = true;

	query->funcs = NULL;
	query->n_funcs = 0;
	if (p->name && !p->has_task) {
		query->kernel = p->name;
		ok = task_find(d, query, &found, e);
		if (!found.n)
			query->kernel = NULL;
	}
	if (ok && !query->kernel && !p->has_task && p->n_sources == 1)
		ok = slots_of_source(p->sources[0], &query->slots, e);
	VEC_FREE(&found);
	return ok && task_find_one(d, query, task, e);
}

bool plan_task(const struct dump *d, const struct replay_plan *p, uint32_t *task, uint32_t *block,
	struct incore_error *e)
{
	const struct replay_request *q = p->q;
	bool has_dispatch = q->dispatch != NO_COUNT;
	struct task_query query = {.has_task = p->has_task,
		.task = p->task,
		.has_dispatch = has_dispatch,
		.dispatch = has_dispatch ? q->dispatch : 0,
		.funcs = p->funcs,
		.n_funcs = p->n_funcs,
		.block = DUMP_NONE};

	if (!p->n_funcs && dump_has_funcs(d))
		return err_set(e, INCORE_USAGE, "no-func",
			"this dump has func ids: say with --func which kernel is to be replayed (incore dump ls lists them)");
	if (!p->n_funcs && !p->has_task)
		return list_tasks(d,
			"this dump has no func ids: say with --task which task is to be replayed",
			e);
	if (!(dump_has_funcs(d) ? task_find_one(d, &query, task, e)
				: find_without_funcs(d, p, &query, task, e)))
		return false;
	*block = q->block != NO_COUNT ? (uint32_t)q->block
		 : has_dispatch	      ? task_block_of_dispatch(d, *task, q->dispatch)
				      : DUMP_NONE;
	return true;
}

/* --- members --- */

/* The core of a task that the dump states. */
static enum kernel_core stated_core(const struct dump *d, uint32_t task)
{
	const struct dump_task *t = d ? &d->tasks.v[task] : NULL;
	const struct dump_extra *x =
		t && t->n_copies ? dump_extra_of(d, d->order[t->first_copy]) : NULL;
	struct str name =
		x && x->core_type != DUMP_NONE ? d->names.strs[x->core_type] : (struct str){"", 0};

	enum kernel_core core;

	if (!kernel_core_of(name, &core) || core == KERNEL_ON_MIX) /* a record states one core */
		return KERNEL_ON_ANY;
	return core;
}

static bool add_member(struct replay_report *out, const char *source, enum kernel_core core,
	int32_t func, uint8_t lanes, struct incore_error *e)
{
	unsigned n_aic = core == KERNEL_ON_AIC, n_aiv = core == KERNEL_ON_AIV;

	for (uint32_t i = 0; i < out->n_members; i++) {
		n_aic += out->members[i].core == KERNEL_ON_AIC;
		n_aiv += out->members[i].core == KERNEL_ON_AIV;
	}
	if (n_aic > 1 || n_aiv > 2)
		return err_set(e, INCORE_USAGE, "too-many-sources",
			"a task has at most one AIC and two AIV kernels; this is %s number %u",
			core == KERNEL_ON_AIC ? "AIC" : "AIV",
			core == KERNEL_ON_AIC ? n_aic : n_aiv);
	out->members[out->n_members++] = (struct replay_member){source, core, func, lanes};
	return true;
}

/* Both sides of a mixed source are members. */
static bool add_sides(struct replay_report *out, const char *source, enum kernel_core core,
	int32_t func, uint8_t lanes, struct incore_error *e)
{
	if (core != KERNEL_ON_MIX)
		return add_member(out, source, core, func, lanes, e);
	return add_member(out, source, KERNEL_ON_AIC, func, 0, e) &&
	       add_member(out, source, KERNEL_ON_AIV, func, lanes, e);
}

static bool has_core(const struct replay_report *r, enum kernel_core core)
{
	for (uint32_t i = 0; i < r->n_members; i++)
		if (r->members[i].core == core)
			return true;
	return false;
}

/* The lanes that a vector kernel ran on, by the positions of the task's members: {0, 1, -1} has no
 * lane 1, {22, 23, 23} has one source on both. A kernel whose id is not among the members (one
 * source has all sides) has the lanes of all of them. 0: the dump does not state it. */
static uint8_t recorded_lanes(
	const struct dump *d, const struct dump_task *t, int32_t func, bool has_cube)
{
	int32_t at[3];
	uint8_t mine, all;

	if (!dump_positions(d, t, has_cube, at))
		return 0;
	mine = (uint8_t)((at[1] == func) | (at[2] == func) << 1);
	all = (uint8_t)((at[1] >= 0) | (at[2] >= 0) << 1);
	return func >= 0 && mine ? mine : all;
}

uint8_t plan_usual_lanes(const struct replay_report *r, uint32_t member)
{
	bool has_cube = has_core(r, KERNEL_ON_AIC);
	unsigned n = 0;

	if (r->members[member].core == KERNEL_ON_AIC)
		return 0;
	if (r->n_members - has_cube < 2)
		return has_cube ? 3 : 1;
	for (uint32_t i = 0; i < member; i++)
		n += r->members[i].core == KERNEL_ON_AIV;
	return (uint8_t)(1u << n);
}

/* Sets each vector kernel's lanes: those the user states, else the dump's, else the default. */
static bool settle_lanes(
	struct replay_report *out, const struct dump *d, uint32_t task, struct incore_error *e)
{
	bool has_cube = has_core(out, KERNEL_ON_AIC);
	uint8_t taken = 0;

	for (uint32_t i = 0; i < out->n_members; i++) {
		struct replay_member *m = &out->members[i];

		if (m->core == KERNEL_ON_AIC)
			continue;
		if (!m->lanes && d)
			m->lanes = recorded_lanes(d, &d->tasks.v[task], m->func, has_cube);
		if (!m->lanes || (m->lanes == 3 && out->n_members - has_cube > 1))
			m->lanes = plan_usual_lanes(out, i);
		if (m->lanes & taken)
			return err_set(e, INCORE_USAGE, "lane-taken",
				"%s is to run on a lane that another source has", m->source);
		taken |= m->lanes;
	}
	return true;
}

static bool take_source(const struct replay_plan *p, const struct dump *d, uint32_t task,
	unsigned i, struct replay_report *out, struct incore_error *e)
{
	struct core_evidence evidence = {.said = p->cores[i],
		.recorded = p->n_sources == 1 ? stated_core(d, task) : KERNEL_ON_ANY};
	struct source_facts s = {0};
	struct core_answer answer = {0};
	struct str masked = {0};
	bool ok = read_source(&out->arena, p->sources[i], &s, e);

	if (ok) {
		masked = (struct str){s.masked.p, s.masked.n};
		evidence.path = s.path;
		evidence.asks = kernel_asks(masked);
		out->wants.computes |= kernel_computes(masked);
		answer = cores_decide(&evidence);
		log_debug("replay", "%s: %s (%s)", s.path, kernel_core_name(answer.core),
			answer.reason);
		if (answer.core == KERNEL_ON_ANY)
			ok = err_file(e, "unknown-core", p->sources[i], INCORE_NO_OFFSET,
				"%s; say --core aic, aiv or mix", answer.reason);
	}
	ok = ok && args_cover(&out->args, kernel_slots_read(masked), p->sources[i], e) &&
	     add_sides(out, s.path, answer.core, i < p->n_funcs ? p->funcs[i] : -1, p->lanes[i], e);
	if (ok && (i == 0 || answer.kernel_class == KERNEL_SPMD_MIX)) {
		out->kernel_class = answer.kernel_class;
		out->class_reason = answer.reason;
	}
	source_facts_free(&s);
	return ok;
}

/* A single source for a task of several kernels only covers the task if it has both sides. */
static bool remark_left_out(
	const struct replay_plan *p, struct replay_report *out, struct incore_error *e)
{
	const char *text;

	if (p->n_funcs <= 1 || out->n_members > 1)
		return true;
	text = arena_printf(&out->args.arena,
		"the task has %u kernels, %zu source is given: the others do not run", p->n_funcs,
		p->n_sources);
	return args_remark(&out->args, text, e);
}

bool plan_members(const struct replay_plan *p, const struct dump *d, uint32_t task,
	struct replay_report *out, struct incore_error *e)
{
	if (!p->n_sources)
		return err_set(e, INCORE_USAGE, "no-source",
			"say with --source where the kernel's source is");
	if (p->n_sources > REPLAY_MAX_MEMBERS)
		return err_set(e, INCORE_USAGE, "too-many-sources", "at most %d sources",
			REPLAY_MAX_MEMBERS);
	if (p->n_sources > 1 && p->n_funcs && p->n_sources != p->n_funcs)
		return err_set(e, INCORE_USAGE, "sources-and-funcs",
			"%zu sources for %u func ids: give one source each, in the same order",
			p->n_sources, p->n_funcs);
	for (unsigned i = 0; i < p->n_sources; i++)
		if (!take_source(p, d, task, i, out, e))
			return false;
	if (out->n_members > 1 && out->kernel_class != KERNEL_SPMD_MIX) {
		out->kernel_class = KERNEL_SPMD_MIX;
		out->class_reason = "it has more than one kernel";
	}
	out->wants.has_cube = has_core(out, KERNEL_ON_AIC);
	out->wants.has_vector = has_core(out, KERNEL_ON_AIV);
	out->wants.option = "--set-arg ";
	return settle_lanes(out, d, task, e) && remark_left_out(p, out, e);
}
