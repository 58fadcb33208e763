/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcs.c: PC samples of rocprofv3 and rocprofiler-compute as an input format. A file with samples of
 * several kernels is several captures, "file#0" and on, the one with most samples first; a file
 * without samples is the timeline of its other records.
 *
 * Parts: code_obj_info.json; samples as CSV; the format.
 */
#include "import/rocprof/pcs.h"

#include <stdlib.h>

#include "base/hash.h"
#include "codec/csv.h"
#include "codec/json_fields.h"
#include "import/capture_cache.h"

/* --- code_obj_info.json ----------------------------------------------------------------------- */

/*
 * Code_obj_info.json, which rocprofiler-compute writes beside the samples: the code objects of the
 * process, instruction by instruction. It has the complete listing of kernels with samples.
 */

#define SAMPLES_END "ps_file_results.json"

struct pcs_listing {
	struct pcs *p;
	struct json_reader r;
	struct u64_map rows; /* hash of kernel, code object and address -> row + 1 */
	uint64_t object;     /* the code object being read */
	uint64_t base;	     /* its load address */
	uint32_t kernel;     /* whose symbol is being read; UINT32_MAX: none with samples */
	bool is_begun;
};

static uint64_t *pcs_row_at(
	struct pcs_listing *x, uint32_t kernel, uint64_t object, uint64_t address)
{
	uint64_t parts[] = {kernel, object, address};

	return u64_map_at(&x->rows, hash_bytes(parts, sizeof(parts), 0));
}

static bool pcs_get_text(const struct json_member *m)
{
	struct pcs_listing *x = m->ctx;
	uint32_t *to = m->at;
	struct str s;

	if (!json_get_str_or_null(m->r, &s))
		return false;
	*to = intern_add(&x->p->set.texts, s);
	return *to != INTERN_NONE || json_reject(m->r, "no-memory", "out of memory");
}

struct json_instruction {
	uint64_t address;
	uint32_t text, where;
};
static const struct json_field instruction_fields[] = {
	JSON_FIELD(json_instruction, address, "virtual_address"),
	JSON_FIELD(json_instruction, text, "name", .get = pcs_get_text),
	JSON_FIELD(json_instruction, where, "comment", .get = pcs_get_text),
};

/* A symbol is a kernel's if it begins where the kernel begins: functions are between kernels. */
static uint32_t pcs_kernel_of(const struct pcs_listing *x, uint64_t offset)
{
	struct sample_set *s = &x->p->set;
	const struct pcs_entry *k = pcs_entry_at(x->p, x->object, offset);
	uint32_t i = k && k->address == offset ? samples_kernel(s, k->kernel) : UINT32_MAX;

	return i != UINT32_MAX && s->kernels.v[i].n_samples ? i : UINT32_MAX;
}

/* Offsets of this file are those in the ELF file; samples count from the load address. */
static void read_instruction(struct pcs_listing *x)
{
	struct json_instruction v = {0};
	struct sampled_row row = {.code_object = x->object};
	struct sample_set *s = &x->p->set;
	uint64_t *at;

	if (!json_get_fields(&x->r, JSON_FIELDS(instruction_fields), &v, x))
		return;
	row.address = v.address - x->base;
	if (!x->is_begun)
		x->kernel = pcs_kernel_of(x, row.address);
	x->is_begun = true;
	if (x->kernel == UINT32_MAX)
		return;
	row.kernel = x->kernel;
	row.text = v.text;
	row.where = v.where;
	at = pcs_row_at(x, row.kernel, row.code_object, row.address);
	if (at && *at && !s->rows.v[*at - 1].text) { /* only a sample without text so far */
		s->rows.v[*at - 1].text = v.text;
		s->rows.v[*at - 1].where = v.where;
	} else if (!at || (!*at && !samples_add(s, &row, 0, 0))) {
		json_reject(&x->r, "no-memory", "out of memory");
	} else if (!*at) {
		*at = s->rows.n;
	}
}

static void pcs_read_symbol(struct pcs_listing *x)
{
	struct str key;

	x->is_begun = false;
	x->kernel = UINT32_MAX;
	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (!str_is(key, "instructions"))
			json_skip(&x->r);
		else if (json_enter_array_or_null(&x->r))
			while (json_next_item(&x->r))
				read_instruction(x);
	}
	if (x->kernel != UINT32_MAX && !x->r.is_failed)
		x->p->set.kernels.v[x->kernel].is_listed = true;
}

/* The id precedes the symbols, because the writer sorts the keys. */
static void pcs_read_object(struct pcs_listing *x)
{
	const uint64_t *base = NULL;
	struct str key;

	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (str_is(key, "id") && json_get_u64(&x->r, &x->object))
			base = u64_map_find(&x->p->load_base, x->object);
		else if (!base || !str_is(key, "symbols"))
			json_skip(&x->r);
		else if (json_enter_array_or_null(&x->r))
			for (x->base = *base; json_next_item(&x->r);)
				pcs_read_symbol(x);
	}
}

/* What was read before damage is kept. */
static void read_listing(
	struct pcs_listing *x, const struct file_data *f, const char *path, struct incore_error *e)
{
	struct str key;

	json_init(&x->r, f->data, f->size, path, 0);
	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (!str_is(key, "code_objects"))
			json_skip(&x->r);
		else if (json_enter_array_or_null(&x->r))
			while (json_next_item(&x->r))
				pcs_read_object(x);
	}
	json_finish(&x->r, e);
	json_deinit(&x->r);
}

static bool find_rows(struct pcs_listing *x)
{
	const struct sample_set *s = &x->p->set;

	for (size_t i = 0; i < s->rows.n; i++) {
		uint64_t *at = pcs_row_at(
			x, s->rows.v[i].kernel, s->rows.v[i].code_object, s->rows.v[i].address);

		if (!at)
			return false;
		*at = i + 1;
	}
	return true;
}

/* Adds the instructions of sampled kernels that no sample hit, from the listing beside the file of
 * samples; without a listing nothing. */
static bool pcs_add_code(
	struct pcs *p, const struct import_options *o, const char *path, struct incore_error *e)
{
	size_t n = strlen(path), end = strlen(SAMPLES_END);
	struct pcs_listing x = {.p = p};
	struct file_data f = {0};
	bool ok = true;

	if (!str_ends(str_of(path), SAMPLES_END))
		return true;
	path = arena_printf(&p->set.arena, "%.*scode_obj_info.json", (int)(n - end), path);
	if (!path)
		return err_nomem(e);
	if (import_load(o, &f, path, &p->code_error)) {
		ok = find_rows(&x) || err_nomem(e);
		if (ok)
			read_listing(&x, &f, path, &p->code_error);
		file_unload(&f);
	} else if (!err_is(&p->code_error, "link-outside")) {
		incore_error_clear(&p->code_error); /* most files have no listing */
	}
	u64_map_deinit(&x.rows);
	return ok;
}

/* --- samples as CSV --------------------------------------------------------------------------- */

/*
 * PC samples as CSV: one sample per line, with the text of its instruction but no address. The
 * kernel of a dispatch is in the kernel trace of the same run, if there is one.
 */

static bool pcs_number_of(const struct csv_reader *c, int column, uint64_t *out)
{
	return str_to_u64(str_trim(csv_field(c, column)), out);
}

static int64_t pcs_value_of(const struct csv_reader *c, const char *name)
{
	uint64_t v;

	return pcs_number_of(c, csv_column(c, name), &v) && v <= INT64_MAX ? (int64_t)v : NO_VALUE;
}

static bool pcs_read_launch(struct pcs *p, const struct csv_reader *c, struct u64_map *kernel_of)
{
	static const char *const workgroup[] = {
		"Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z"};
	static const char *const grid[] = {"Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"};
	struct str name = csv_field(c, csv_column(c, "Kernel_Name"));
	struct trace_launch l = trace_no_launch();
	uint64_t dispatch, id, *at;
	uint32_t i;

	if (!pcs_number_of(c, csv_column(c, "Dispatch_Id"), &dispatch) ||
		!pcs_number_of(c, csv_column(c, "Kernel_Id"), &id))
		return true;
	at = u64_map_at(kernel_of, dispatch);
	i = samples_kernel(&p->set, id);
	if (!at || i == UINT32_MAX)
		return false;
	*at = id;
	p->n_dispatches++;
	l.kernel_id = (int64_t)(id & INT64_MAX);
	l.dispatch = (int64_t)(dispatch & INT64_MAX);
	l.lds_bytes = pcs_value_of(c, "LDS_Block_Size");
	l.scratch_bytes = pcs_value_of(c, "Scratch_Size");
	l.vgprs = pcs_value_of(c, "VGPR_Count");
	l.accum_vgprs = pcs_value_of(c, "Accum_VGPR_Count");
	l.sgprs = pcs_value_of(c, "SGPR_Count");
	l.start_ns = pcs_value_of(c, "Start_Timestamp");
	l.end_ns = pcs_value_of(c, "End_Timestamp");
	for (int k = 0; k < 3; k++) {
		l.workgroup[k] = pcs_value_of(c, workgroup[k]);
		l.grid[k] = pcs_value_of(c, grid[k]);
	}
	if (!p->set.kernels.v[i].name)
		p->set.kernels.v[i].name = arena_strndup(&p->set.arena, name.p, name.n);
	pcs_add_launch(&p->set.kernels.v[i], &l);
	return p->set.kernels.v[i].name != NULL;
}

/* "x_pc_sampling_stochastic.csv" -> "x_kernel_trace.csv"; without one kernels have no names. */
static bool pcs_read_kernels(struct pcs *p, const struct import_options *o, const char *path,
	struct u64_map *kernel_of, struct incore_error *e)
{
	ptrdiff_t at = str_find(str_of(path), "pc_sampling_");
	struct incore_error none = {0};
	struct file_data f = {0};
	struct csv_reader c;
	const char *beside;
	bool at_end = false, ok;

	if (at < 0)
		return true;
	beside = arena_printf(&p->set.arena, "%.*skernel_trace.csv", (int)at, path);
	if (!beside)
		return err_nomem(e);
	if (!import_load(o, &f, beside, &none)) {
		incore_error_clear(&none);
		return true;
	}
	csv_init(&c, f.data, f.size, beside);
	ok = csv_header(&c, e);
	while (ok && csv_row(&c, &at_end, e))
		if (!pcs_read_launch(p, &c, kernel_of))
			ok = err_nomem(e);
	csv_deinit(&c);
	file_unload(&f);
	return ok && at_end;
}

struct pcs_columns {
	int text, where, dispatch, issued, reason;
};

static bool pcs_read_sample(struct pcs *p, const struct csv_reader *c, const struct pcs_columns *k,
	const struct u64_map *kernel_of)
{
	struct sampled_row row = {.text = intern_add(&p->set.texts, csv_field(c, k->text)),
		.where = intern_add(&p->set.texts, csv_field(c, k->where))};
	uint64_t dispatch = 0, issued = 0;
	unsigned reason = SAMPLE_NOT_TOLD;
	const uint64_t *id;

	pcs_number_of(c, k->dispatch, &dispatch);
	id = u64_map_find(kernel_of, dispatch);
	p->n_unplaced += !id;
	row.kernel = samples_kernel(&p->set, id ? *id : UINT64_MAX);
	if (k->issued >= 0 && pcs_number_of(c, k->issued, &issued) && issued)
		reason = SAMPLE_ISSUED;
	else if (k->issued >= 0)
		reason = sample_reason_of(csv_field(c, k->reason));
	return row.text != INTERN_NONE && row.where != INTERN_NONE && row.kernel != UINT32_MAX &&
	       samples_add(&p->set, &row, reason, 1);
}

static bool pcs_read_csv(struct pcs *p, const struct import_options *o, const struct file_data *f,
	const char *path, struct incore_error *e)
{
	struct u64_map kernel_of = {0};
	struct csv_reader c;
	struct pcs_columns k;
	bool at_end = false, ok;

	p->set.has_addresses = false;
	ok = pcs_read_kernels(p, o, path, &kernel_of, e);
	csv_init(&c, f->data, f->size, path);
	ok = ok && csv_header(&c, e);
	k = (struct pcs_columns){csv_column(&c, "Instruction"),
		csv_column(&c, "Instruction_Comment"), csv_column(&c, "Dispatch_Id"),
		csv_column(&c, "Wave_Issued_Instruction"), csv_column(&c, "Stall_Reason")};
	if (ok && (k.text < 0 || k.dispatch < 0))
		ok = err_file(e, "bad-value", path, 0,
			"no column \"Instruction\" or no \"Dispatch_Id\": no PC samples");
	p->set.is_host_trap = k.issued < 0;
	while (ok && csv_row(&c, &at_end, e))
		if (!pcs_read_sample(p, &c, &k, &kernel_of))
			ok = err_nomem(e);
	csv_deinit(&c);
	u64_map_deinit(&kernel_of);
	return ok && at_end;
}

/* --- the format ------------------------------------------------------------------------------- */

#define CSV_OTHER_HEAD "Sample_Timestamp,Exec_Mask,Dispatch_Id"
#define CSV_HEAD "\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\""

static bool is_csv(struct str head)
{
	return str_starts(head, CSV_HEAD) || str_starts(head, CSV_OTHER_HEAD);
}

static bool is_json(struct str head)
{
	ptrdiff_t at = str_find(str_sub(head, 0, 256), "\"rocprofiler-sdk-tool\"");

	return at > 0 && str_trim(str_sub(head, 0, (size_t)at)).n == 1 &&
	       str_trim(head).p[0] == '{';
}

/* Results of other rocprofv3 runs in the folders of captures begin the same way: unless the user
 * named the file, its name must be one that rocprofiler-compute gives to PC samples. */
static int pcs_sniff(const struct probe *p)
{
	struct str head = {(const char *)p->head, p->head_size};

	if (!is_json(head))
		return 0;
	return p->is_named || str_ends(str_of(p->path), "ps_file_results.json") ? 96 : 0;
}

void pcs_add_launch(struct sampled_kernel *k, const struct trace_launch *l)
{
	struct trace_launch *to = &k->launch;
	int64_t n = to->launch_count;
	bool are_alike = n && memcmp(to->grid, l->grid, sizeof(l->grid)) == 0 &&
			 memcmp(to->workgroup, l->workgroup, sizeof(l->workgroup)) == 0;

	if (!n) {
		*to = *l;
	} else {
		to->dispatch = to->start_ns = to->end_ns = NO_VALUE;
		for (int i = 0; !are_alike && i < 3; i++)
			to->grid[i] = to->workgroup[i] = NO_VALUE;
		if (to->agent != l->agent)
			to->agent = NO_VALUE;
	}
	to->launch_count = n + 1;
}

/* --- a file and one of its kernels --- */

struct pcs_opened {
	struct pcs pcs;
	uint32_t kernel;
	bool is_timeline; /* it has no samples, but a timeline */
};

static void pcs_close_file(struct pcs_opened *x)
{
	VEC_FREE(&x->pcs.agents);
	VEC_FREE(&x->pcs.entries);
	u64_map_deinit(&x->pcs.load_base);
	u64_map_deinit(&x->pcs.node_of);
	u64_map_deinit(&x->pcs.pid_of);
	incore_error_clear(&x->pcs.code_error);
	samples_deinit(&x->pcs.set);
}

static bool pcs_read_file(
	struct pcs *p, const struct import_options *o, const char *path, struct incore_error *e)
{
	struct import_options kept = *o;
	struct file_data f = {0};
	bool ok;

	kept.is_look = true; /* other kernels of the file may be requested */
	ok = import_load_plain(&kept, &f, path, e);
	if (ok && is_csv((struct str){(const char *)f.data, f.size}))
		ok = pcs_read_csv(p, o, &f, path, e);
	else if (ok)
		ok = pcs_read_json(p, &f, path, e) && pcs_add_code(p, &kept, path, e);
	file_unload(&f);
	return ok && (samples_finish(&p->set) || err_nomem(e));
}

static bool pcs_open_file(struct pcs_opened *x, const struct import_options *o, const char *path,
	struct incore_error *e)
{
	struct sample_set *s = &x->pcs.set;
	struct roctrace *timeline = x->pcs.timeline;
	const char *file;

	*x = (struct pcs_opened){.pcs.timeline = timeline};
	if (!samples_init(s))
		return err_nomem(e);
	file = capture_file(import_fence(o), &s->arena, path, &x->kernel);
	if (!file)
		return err_nomem(e);
	if (!pcs_read_file(&x->pcs, o, file, e))
		return false;
	x->is_timeline = !s->kernels.n && timeline && !roctrace_is_empty(timeline);
	if (x->is_timeline && !x->kernel)
		return true;
	if (!s->kernels.n)
		return err_file(e, "no-samples", file, INCORE_NO_OFFSET,
			"no PC sample%s is in it: none was asked for, or kernels are shorter than the interval of samples",
			x->is_timeline ? "" : ", launch, copy or call");
	if (x->kernel >= s->kernels.n)
		return err_file(e, "no-such-kernel", file, INCORE_NO_OFFSET,
			"samples of %zu kernel%s are in it; there is no #%u", s->kernels.n,
			plural(s->kernels.n), x->kernel);
	return true;
}

static void pcs_split(const char *path, struct capture_cache *cache, struct arena *a,
	const char ***paths, uint32_t *n)
{
	struct import_options o = {.cache = cache, .is_look = true};
	struct incore_error ignored = {0};
	struct pcs_opened x = {0};

	if (pcs_open_file(&x, &o, path, &ignored))
		capture_name_parts(a, path, x.pcs.set.kernels.n, paths, n);
	incore_error_clear(&ignored);
	pcs_close_file(&x);
}

static void take_look(const struct file_fence *f, struct arena *a, uint64_t n_samples,
	const char *kernel, struct capture *c)
{
	uint32_t part = 0;
	struct stat st;

	capture_stat(f, c->path, &st, &part);
	c->dispatch = part ? (int64_t)part - 1 : NO_VALUE;
	c->n_bytes = n_samples;
	c->same_as = kernel ? arena_printf(a, "pcs %s", kernel) : NULL;
}

static void pcs_look(
	const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	struct import_options o = {.cache = cache, .is_look = true};
	struct incore_error ignored = {0};
	struct pcs_opened x = {0};

	if (pcs_open_file(&x, &o, path, &ignored)) {
		const struct sampled_kernel *k = &x.pcs.set.kernels.v[x.kernel];

		for (size_t i = 0; i < x.pcs.set.rows.n; i++) {
			c->n_rows += x.pcs.set.rows.v[i].kernel == x.kernel;
			c->n_mapped += x.pcs.set.rows.v[i].kernel == x.kernel &&
				       x.pcs.set.rows.v[i].where > 0;
		}
		take_look(capture_fence(cache), a, k->n_samples, k->name, c);
	}
	incore_error_clear(&ignored);
	pcs_close_file(&x);
}

static void pcs_look_at_trace(const struct trace *t, struct arena *a, struct capture *c)
{
	uint64_t n = 0;

	for (code_idx i = 0; t->samples && i < t->n_code; i++) {
		n += t->samples[i].issued + t->samples[i].stalled;
		c->n_mapped += *t->code[i].source != '\0';
	}
	c->n_rows = t->n_code;
	take_look(NULL, a, n, t->samples ? t->meta.kernel : NULL, c);
}

/* --- the trace --- */

static int64_t pcs_known(uint64_t v)
{
	return v && v <= INT64_MAX / 1024 ? (int64_t)v : NO_VALUE;
}

/* The agent of the launches; if unknown, any agent, provided that all are of one kind. */
static const struct pcs_agent *agent_of(const struct pcs *p, int64_t handle)
{
	const struct pcs_agent *first = p->agents.n ? &p->agents.v[0] : NULL;

	for (size_t i = 0; i < p->agents.n; i++)
		if (handle != NO_VALUE && p->agents.v[i].handle == (uint64_t)handle)
			return &p->agents.v[i];
	for (size_t i = 1; i < p->agents.n; i++)
		if (!first->name || !p->agents.v[i].name ||
			strcmp(first->name, p->agents.v[i].name) != 0)
			return NULL;
	return first;
}

static bool pcs_put_machine(struct trace *t, const struct pcs_agent *a)
{
	struct trace_meta *m = &t->meta;
	uint64_t version;

	if (!a)
		return true;
	m->machine = (struct trace_machine){.simds = pcs_known(a->simds),
		.cus = pcs_known(a->cus),
		.ses = pcs_known(a->ses),
		.xccs = pcs_known(a->xccs),
		.max_waves_per_simd = pcs_known(a->waves_per_simd),
		.lds_bytes_per_cu =
			pcs_known(a->lds_kib) == NO_VALUE ? NO_VALUE : pcs_known(a->lds_kib) * 1024,
		.wave_size = pcs_known(a->wave_size),
		.max_clock_mhz = pcs_known(a->mhz),
		.product = a->product ? arena_strdup(&t->arena, a->product) : NULL};
	m->arch = a->name ? arena_strdup(&t->arena, a->name) : NULL;
	m->arch_source = "agents";
	if (m->arch && str_starts(str_of(m->arch), "gfx") && strlen(m->arch) > 5 &&
		str_to_u64(str_sub(str_of(m->arch), 3, strlen(m->arch) - 5), &version) &&
		version < 100)
		m->gfx_major = (unsigned)version;
	return (m->arch || !a->name) && (m->machine.product || !a->product);
}

static void put_sizes(struct trace_launch *l, int64_t wave_size)
{
	int64_t groups = 1, threads = 1;

	for (int i = 0; i < 3; i++) {
		int64_t w = l->workgroup[i], g = l->grid[i];

		if (w <= 0 || g < 0 || w > 1 << 16 || g > INT64_C(1) << 32 ||
			groups > INT64_MAX / (g / w + 1))
			return;
		groups *= (g + w - 1) / w;
		threads *= w;
	}
	l->workgroups = groups;
	if (wave_size > 0 && threads <= 1 << 20 && groups < INT64_C(1) << 40)
		l->waves = groups * ((threads + wave_size - 1) / wave_size);
}

static bool pcs_build(struct trace *t, struct pcs_opened *x, struct incore_error *e)
{
	const struct pcs *p = &x->pcs;
	struct incore_error *why = &x->pcs.code_error;
	const struct sampled_kernel *k = &p->set.kernels.v[x->kernel];
	struct trace_launch *l = &t->meta.launch;

	if (!samples_build(&p->set, x->kernel, t, e))
		return false;
	if (!pcs_put_machine(t, agent_of(p, k->launch.agent)))
		return err_nomem(e);
	put_sizes(l, t->meta.machine.wave_size);
	if (p->command && !(l->command = arena_strdup(&t->arena, p->command)))
		return err_nomem(e);
	if (why->code &&
		!import_note_unread(t, "damaged-file", why->path ? why->path : "",
			"is damaged, so that instructions without samples are missing", why)) {
		err_move(e, why);
		return false;
	}
	if (k->id == UINT64_MAX &&
		!trace_note(t, "samples-without-kernel", NULL, INCORE_NO_OFFSET, p->n_unplaced,
			"the file does not say which kernel these samples are of (--kernel-trace does)"))
		return err_nomem(e);
	return true;
}

static bool pcs_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct roctrace run = {.t = t};
	struct pcs_opened x = {.pcs.timeline = &run};
	bool ok = pcs_open_file(&x, o, path, e) &&
		  (x.is_timeline ? roctrace_finish(&run, e) : pcs_build(t, &x, e));

	pcs_close_file(&x);
	roctrace_deinit(&run);
	return ok;
}

static const struct signature pcs_signs[] = {
	{.begins = CSV_HEAD, .score = 100},
	{.begins = CSV_OTHER_HEAD, .score = 100},
	{.says = "\"rocprofiler-sdk-tool\""},
	{0},
};

const struct import_ops import_rocprof_pcs = {
	.name = "rocprof_pcs",
	.summary = "results of rocprofv3 (JSON, CSV): PC samples; without any the timeline",
	.looks_for = "*_results.json or *_pc_sampling_*.csv of rocprofv3",
	.reads_packed = true,
	.signs = pcs_signs,
	.sniff = pcs_sniff,
	.splits_files = true,
	.split = pcs_split,
	.look = pcs_look,
	.look_at_trace = pcs_look_at_trace,
	.read = pcs_read,
	.lost = import_lost_noted, /* noted while reading */
};
