/* SPDX-License-Identifier: Apache-2.0 */
/* provenance.c: records what a workspace was made from: dump, task, workload, sources, versions. */
#include <stdio.h>

#include "base/file.h"
#include "codec/json_writer.h"
#include "replay/workspace.h"

static void put_id(struct json_writer *w, const char *key, bool is_there, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)value);
	json_w_kv_cstr(w, key, is_there ? text : NULL);
}

static void put_slot(struct json_writer *w, const struct replay_report *r, uint32_t i)
{
	static const char *const ORIGINS[] = {
		"unused", "dump", "dump, no bytes", "set", "arg-spec"};
	const struct arg *s = &r->args.slots[i];

	json_w_row_object(w);
	json_w_kv_u64(w, "slot", i);
	json_w_kv_cstr(w, "kind", s->is_tensor ? "tensor" : "scalar");
	json_w_kv_cstr(w, "dtype", dtype_name(s->dtype));
	if (s->is_tensor) {
		arg_put_dims(w, "shape", s->shape, s->n_dims);
		json_w_kv_u64(w, "buffer_bytes", r->args.buffers.v[s->buffer].n);
	} else {
		put_id(w, "bits", true, s->bits);
	}
	json_w_kv_cstr(w, "from", ORIGINS[s->origin]);
	json_w_end(w);
}

static void put_members(struct json_writer *w, const struct replay_report *r)
{
	json_w_kv_array(w, "members");
	for (uint32_t i = 0; i < r->n_members; i++) {
		json_w_row_object(w);
		json_w_kv_cstr(w, "source", r->members[i].source);
		json_w_kv_cstr(w, "core", kernel_core_name(r->members[i].core));
		json_w_kv_i64(w, "func_id", r->members[i].func);
		json_w_end(w);
	}
	json_w_end(w);
}

/* Writes the scalars of blocks that differ from the first: args.json only has those of the
 * first. */
static void put_blocks(struct json_writer *w, const struct args *a)
{
	json_w_kv_array(w, "scalars_of_blocks");
	for (size_t b = 1; b < a->rows.n; b++)
		for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++) {
			uint64_t bits = a->rows.v[b].bits[i];

			if (bits == a->rows.v[0].bits[i])
				continue;
			json_w_row_object(w);
			json_w_kv_u64(w, "block", a->first_block + b);
			json_w_kv_u64(w, "slot", i);
			put_id(w, "bits", true, bits);
			json_w_end(w);
		}
	json_w_end(w);
}

static void put_all(struct json_writer *w, const struct replay_request *q,
	const struct replay_report *r, const struct dump *d)
{
	json_w_object(w);
	json_w_kv_cstr(w, "schema", "incore.replay_workspace/1");
	json_w_kv_cstr(w, "incore", INCORE_VERSION);
	json_w_kv_cstr(w, "command", q->command);
	json_w_kv_cstr(w, "backend", q->backend->name);
	json_w_kv_cstr(w, "evidence", q->backend->evidence);
	json_w_kv_cstr(w, "basis", r->outcome.basis);
	json_w_kv_cstr(w, "target", replay_target_name(r->target));
	json_w_kv_cstr(w, "dump", d ? d->manifest : NULL);
	json_w_kv_cstr(w, "arg_spec", q->arg_spec);
	put_id(w, "task", r->has_task, r->task);
	json_w_kv_u64(w, "first_block", r->args.first_block);
	json_w_kv_u64(w, "blocks", r->args.rows.n);
	json_w_kv_u64(w, "block_num", r->args.block_count);
	json_w_kv_cstr(w, "kernel_class", kernel_class_name(r->kernel_class));
	json_w_kv_cstr(w, "kernel_class_because", r->class_reason);
	json_w_kv_bool(w, "is_forced", r->args.is_forced);
	put_members(w, r);
	json_w_kv_array(w, "slots");
	for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++)
		if (r->args.slots[i].is_used)
			put_slot(w, r, i);
	json_w_end(w);
	put_blocks(w, &r->args);
	json_w_kv_array(w, "remarks");
	for (size_t i = 0; i < r->args.remarks.n; i++)
		json_w_str(w, str_of(r->args.remarks.v[i]));
	json_w_end(w);
	json_w_end(w);
}

bool provenance_write(const char *dir, const struct replay_request *q,
	const struct replay_report *r, const struct dump *d, struct incore_error *e)
{
	struct strbuf b = {0};
	struct json_writer w;
	bool ok;

	json_w_buf(&w, &b, 2);
	put_all(&w, q, r, d);
	sb_putc(&b, '\n');
	ok = (!b.failed || err_nomem(e)) &&
	     workspace_text(dir, "provenance.json", (struct str){b.p, b.n}, 0644, e);
	sb_free(&b);
	return ok;
}
