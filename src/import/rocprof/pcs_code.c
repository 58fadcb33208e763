/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcs_code.c: code_obj_info.json, which rocprofiler-compute writes beside the samples: the code
 * objects of the process, instruction by instruction. It has the complete listing of kernels with
 * samples.
 */
#include "import/rocprof/pcs.h"

#include "base/hash.h"
#include "codec/json_fields.h"

#define SAMPLES_END "ps_file_results.json"

struct listing {
	struct pcs *p;
	struct json_reader r;
	struct u64_map rows; /* hash of kernel, code object and address -> row + 1 */
	uint64_t object;     /* the code object being read */
	uint64_t base;	     /* its load address */
	uint32_t kernel;     /* whose symbol is being read; UINT32_MAX: none with samples */
	bool is_begun;
};

static uint64_t *row_at(struct listing *x, uint32_t kernel, uint64_t object, uint64_t address)
{
	uint64_t parts[] = {kernel, object, address};

	return u64_map_at(&x->rows, hash_bytes(parts, sizeof(parts), 0));
}

static bool get_text(const struct json_member *m)
{
	struct listing *x = m->ctx;
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
	JSON_FIELD(json_instruction, text, "name", .get = get_text),
	JSON_FIELD(json_instruction, where, "comment", .get = get_text),
};

/* A symbol is a kernel's if it begins where the kernel begins: functions are between kernels. */
static uint32_t kernel_of(const struct listing *x, uint64_t offset)
{
	struct sample_set *s = &x->p->set;
	const struct pcs_entry *k = pcs_entry_at(x->p, x->object, offset);
	uint32_t i = k && k->address == offset ? samples_kernel(s, k->kernel) : UINT32_MAX;

	return i != UINT32_MAX && s->kernels.v[i].n_samples ? i : UINT32_MAX;
}

/* Offsets of this file are those in the ELF file; samples count from the load address. */
static void read_instruction(struct listing *x)
{
	struct json_instruction v = {0};
	struct sampled_row row = {.code_object = x->object};
	struct sample_set *s = &x->p->set;
	uint64_t *at;

	if (!json_get_fields(&x->r, JSON_FIELDS(instruction_fields), &v, x))
		return;
	row.address = v.address - x->base;
	if (!x->is_begun)
		x->kernel = kernel_of(x, row.address);
	x->is_begun = true;
	if (x->kernel == UINT32_MAX)
		return;
	row.kernel = x->kernel;
	row.text = v.text;
	row.where = v.where;
	at = row_at(x, row.kernel, row.code_object, row.address);
	if (at && *at && !s->rows.v[*at - 1].text) { /* only a sample without text so far */
		s->rows.v[*at - 1].text = v.text;
		s->rows.v[*at - 1].where = v.where;
	} else if (!at || (!*at && !samples_add(s, &row, 0, 0))) {
		json_reject(&x->r, "no-memory", "out of memory");
	} else if (!*at) {
		*at = s->rows.n;
	}
}

static void read_symbol(struct listing *x)
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
static void read_object(struct listing *x)
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
				read_symbol(x);
	}
}

/* What was read before damage is kept. */
static void read_listing(
	struct listing *x, const struct file_data *f, const char *path, struct incore_error *e)
{
	struct str key;

	json_init(&x->r, f->data, f->size, path, 0);
	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		if (!str_is(key, "code_objects"))
			json_skip(&x->r);
		else if (json_enter_array_or_null(&x->r))
			while (json_next_item(&x->r))
				read_object(x);
	}
	json_finish(&x->r, e);
	json_deinit(&x->r);
}

static bool find_rows(struct listing *x)
{
	const struct sample_set *s = &x->p->set;

	for (size_t i = 0; i < s->rows.n; i++) {
		uint64_t *at = row_at(
			x, s->rows.v[i].kernel, s->rows.v[i].code_object, s->rows.v[i].address);

		if (!at)
			return false;
		*at = i + 1;
	}
	return true;
}

bool pcs_add_code(
	struct pcs *p, const struct import_options *o, const char *path, struct incore_error *e)
{
	size_t n = strlen(path), end = strlen(SAMPLES_END);
	struct listing x = {.p = p};
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
