/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcs_csv.c: PC samples as CSV: one sample per line, with the text of its instruction but no
 * address. The kernel of a dispatch is in the kernel trace of the same run, if there is one.
 */
#include "import/rocprof/pcs.h"

#include "codec/csv.h"

static bool number_of(const struct csv_reader *c, int column, uint64_t *out)
{
	return str_to_u64(str_trim(csv_field(c, column)), out);
}

static int64_t value_of(const struct csv_reader *c, const char *name)
{
	uint64_t v;

	return number_of(c, csv_column(c, name), &v) && v <= INT64_MAX ? (int64_t)v : NO_VALUE;
}

static bool read_launch(struct pcs *p, const struct csv_reader *c, struct u64_map *kernel_of)
{
	static const char *const workgroup[] = {
		"Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z"};
	static const char *const grid[] = {"Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"};
	struct str name = csv_field(c, csv_column(c, "Kernel_Name"));
	struct trace_launch l = trace_no_launch();
	uint64_t dispatch, id, *at;
	uint32_t i;

	if (!number_of(c, csv_column(c, "Dispatch_Id"), &dispatch) ||
		!number_of(c, csv_column(c, "Kernel_Id"), &id))
		return true;
	at = u64_map_at(kernel_of, dispatch);
	i = samples_kernel(&p->set, id);
	if (!at || i == UINT32_MAX)
		return false;
	*at = id;
	p->n_dispatches++;
	l.kernel_id = (int64_t)(id & INT64_MAX);
	l.dispatch = (int64_t)(dispatch & INT64_MAX);
	l.lds_bytes = value_of(c, "LDS_Block_Size");
	l.scratch_bytes = value_of(c, "Scratch_Size");
	l.vgprs = value_of(c, "VGPR_Count");
	l.accum_vgprs = value_of(c, "Accum_VGPR_Count");
	l.sgprs = value_of(c, "SGPR_Count");
	l.start_ns = value_of(c, "Start_Timestamp");
	l.end_ns = value_of(c, "End_Timestamp");
	for (int k = 0; k < 3; k++) {
		l.workgroup[k] = value_of(c, workgroup[k]);
		l.grid[k] = value_of(c, grid[k]);
	}
	if (!p->set.kernels.v[i].name)
		p->set.kernels.v[i].name = arena_strndup(&p->set.arena, name.p, name.n);
	pcs_add_launch(&p->set.kernels.v[i], &l);
	return p->set.kernels.v[i].name != NULL;
}

/* "x_pc_sampling_stochastic.csv" -> "x_kernel_trace.csv"; without one kernels have no names. */
static bool read_kernels(struct pcs *p, const struct import_options *o, const char *path,
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
		if (!read_launch(p, &c, kernel_of))
			ok = err_nomem(e);
	csv_deinit(&c);
	file_unload(&f);
	return ok && at_end;
}

struct columns {
	int text, where, dispatch, issued, reason;
};

static bool read_sample(struct pcs *p, const struct csv_reader *c, const struct columns *k,
	const struct u64_map *kernel_of)
{
	struct sampled_row row = {.text = intern_add(&p->set.texts, csv_field(c, k->text)),
		.where = intern_add(&p->set.texts, csv_field(c, k->where))};
	uint64_t dispatch = 0, issued = 0;
	unsigned reason = SAMPLE_NOT_TOLD;
	const uint64_t *id;

	number_of(c, k->dispatch, &dispatch);
	id = u64_map_find(kernel_of, dispatch);
	p->n_unplaced += !id;
	row.kernel = samples_kernel(&p->set, id ? *id : UINT64_MAX);
	if (k->issued >= 0 && number_of(c, k->issued, &issued) && issued)
		reason = SAMPLE_ISSUED;
	else if (k->issued >= 0)
		reason = sample_reason_of(csv_field(c, k->reason));
	return row.text != INTERN_NONE && row.where != INTERN_NONE && row.kernel != UINT32_MAX &&
	       samples_add(&p->set, &row, reason, 1);
}

bool pcs_read_csv(struct pcs *p, const struct import_options *o, const struct file_data *f,
	const char *path, struct incore_error *e)
{
	struct u64_map kernel_of = {0};
	struct csv_reader c;
	struct columns k;
	bool at_end = false, ok;

	p->set.has_addresses = false;
	ok = read_kernels(p, o, path, &kernel_of, e);
	csv_init(&c, f->data, f->size, path);
	ok = ok && csv_header(&c, e);
	k = (struct columns){csv_column(&c, "Instruction"), csv_column(&c, "Instruction_Comment"),
		csv_column(&c, "Dispatch_Id"), csv_column(&c, "Wave_Issued_Instruction"),
		csv_column(&c, "Stall_Reason")};
	if (ok && (k.text < 0 || k.dispatch < 0))
		ok = err_file(e, "bad-value", path, 0,
			"no column \"Instruction\" or no \"Dispatch_Id\": no PC samples");
	p->set.is_host_trap = k.issued < 0;
	while (ok && csv_row(&c, &at_end, e))
		if (!read_sample(p, &c, &k, &kernel_of))
			ok = err_nomem(e);
	csv_deinit(&c);
	u64_map_deinit(&kernel_of);
	return ok && at_end;
}
