/* SPDX-License-Identifier: Apache-2.0 */
/* opstream_jsonl.c: op streams as JSON Lines: a head, then a line an op, for people and for front
 * ends that would rather not write bytes. */
#include "base/file.h"
#include "codec/json_writer.h"
#include "model/stream/opstream_io.h"

static void put_slots(struct json_writer *w, const char *key, uint64_t mask)
{
	json_w_key(w, key);
	json_w_array(w);
	for (unsigned i = 0; i < 64; i++)
		if (mask >> i & 1)
			json_w_u64(w, i);
	json_w_end(w);
}

static void put_u32s(struct json_writer *w, const char *key, const uint32_t *v, unsigned n)
{
	json_w_key(w, key);
	json_w_array(w);
	for (unsigned i = 0; i < n; i++)
		json_w_u64(w, v[i]);
	json_w_end(w);
}

static void put_slot(struct json_writer *w, const struct opstream *s, const struct op_slot *t)
{
	bool is_tensor = t->flags & SLOT_TENSOR;

	json_w_object(w);
	json_w_kv_u64(w, "slot", t->slot);
	json_w_kv_cstr(w, "kind", is_tensor ? "tensor" : "scalar");
	json_w_kv_cstr(w, "name", opstream_str(s, t->name));
	json_w_kv_cstr(w, "dtype", op_dtype_name(t->dtype));
	json_w_kv_bool(w, "read", t->flags & SLOT_READ);
	if (is_tensor) {
		json_w_kv_u64(w, "alloc", t->alloc);
		json_w_kv_u64(w, "alloc_off", t->alloc_off);
		json_w_kv_u64(w, "bytes", t->bytes);
		json_w_kv_bool(w, "size_known", t->flags & SLOT_SIZE_KNOWN);
		json_w_kv_bool(w, "payload", t->flags & SLOT_PAYLOAD);
		json_w_kv_bool(w, "output", t->flags & SLOT_OUTPUT);
		json_w_kv_u64(w, "start_offset", t->start_offset);
		put_u32s(w, "shapes", t->shapes, t->ndims);
		put_u32s(w, "strides", t->strides, t->ndims);
	} else {
		json_w_kv_u64(w, "value", t->value);
	}
	json_w_end(w);
}

static void put_head(struct json_writer *w, const struct opstream *s)
{
	json_w_object(w);
	json_w_kv_cstr(w, "format", "incore-opstream");
	json_w_kv_u64(w, "version", OPSTREAM_VERSION);
	json_w_kv_cstr(w, "arch", op_arch_name(s->arch));
	json_w_kv_cstr(w, "core", s->core == CORE_AIC ? "aic" : "aiv");
	json_w_kv_u64(w, "lane", s->lane);
	json_w_kv_u64(w, "block_idx", s->block_idx);
	json_w_kv_u64(w, "block_num", s->block_num);
	json_w_kv_bool(w, "mixed", s->is_mixed);
	json_w_kv_cstr(w, "kernel", opstream_str(s, s->kernel));
	json_w_kv_cstr(w, "source_sha256", opstream_str(s, s->source_sha256));
	json_w_kv_cstr(w, "front_end", opstream_str(s, s->front_end));
	json_w_kv_cstr(w, "args_origin", s->args_origin == ARGS_DUMP ? "dump" : "synthetic");
	json_w_kv_bool(w, "complete", s->is_complete);
	json_w_kv_cstr(w, "reason", opstream_str(s, s->reason));
	put_slots(w, "payload_slots", s->payload_slots);
	put_slots(w, "missing_slots", s->missing_slots);
	json_w_key(w, "slots");
	json_w_array(w);
	for (size_t i = 0; i < s->slots.n; i++)
		put_slot(w, s, &s->slots.v[i]);
	json_w_end(w);
	json_w_end(w);
}

static void put_tile(struct json_writer *w, const struct op_opnd *o, uint64_t addr)
{
	json_w_kv_cstr(w, "loc", op_loc_name(o->loc));
	json_w_kv_u64(w, "addr", addr);
	json_w_kv_u64(w, "rows", OPND_ROWS(o));
	json_w_kv_u64(w, "cols", OPND_COLS(o));
	json_w_kv_u64(w, "vrow", OPND_VROW(o));
	json_w_kv_u64(w, "vcol", OPND_VCOL(o));
	json_w_kv_cstr(w, "blayout", op_blayout_name(o->blayout));
	json_w_kv_cstr(w, "slayout", op_slayout_name(o->slayout));
	json_w_kv_u64(w, "fractal", o->fractal);
	json_w_kv_cstr(w, "pad", op_pad_name(o->pad));
	json_w_kv_cstr(w, "compact", op_compact_name(o->compact));
}

static void put_gm(struct json_writer *w, const struct op_opnd *o, uint64_t offset)
{
	if (o->slot == OPSTREAM_NO_SLOT)
		json_w_kv_null(w, "slot");
	else
		json_w_kv_u64(w, "slot", o->slot);
	json_w_kv_u64(w, "offset", offset);
	put_u32s(w, "shape", o->shape, 5);
	json_w_key(w, "stride");
	json_w_array(w);
	for (int i = 0; i < 5; i++)
		json_w_i64(w, o->stride[i]);
	json_w_end(w);
	json_w_kv_cstr(w, "layout", op_layout_name(o->layout));
}

static void put_opnd(struct json_writer *w, const struct op_opnd *o, uint64_t word)
{
	json_w_object(w);
	json_w_kv_cstr(w, "what", op_what_name(o->what));
	json_w_kv_cstr(w, "role", op_role_name(o->role));
	json_w_kv_cstr(w, "dtype", op_dtype_name(o->dtype));
	json_w_kv_u64(w, "bits", o->bits);
	if (o->what == OPND_TILE)
		put_tile(w, o, word);
	else if (o->what == OPND_GM)
		put_gm(w, o, word);
	else
		json_w_kv_u64(w, "value", word);
	json_w_end(w);
}

static void put_tmpl(struct json_writer *w, const struct op_form *f)
{
	const struct {
		const char *key;
		uint8_t v;
	} all[] = {{"atomic", f->atomic}, {"round", f->round}, {"sat", f->sat}, {"mask", f->mask},
		{"split", f->split}, {"exhausted", f->exhausted}, {"phase", f->phase},
		{"mode", f->mode}};
	bool is_open = false;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].v == OPSTREAM_ABSENT)
			continue;
		if (!is_open) {
			json_w_key(w, "tmpl");
			json_w_object(w);
			is_open = true;
		}
		json_w_kv_u64(w, all[i].key, all[i].v);
	}
	if (is_open)
		json_w_end(w);
}

static void put_flag(struct json_writer *w, const struct op_form *f)
{
	json_w_key(w, "flag");
	json_w_object(w);
	json_w_kv_cstr(w, "src", op_pipe_name(f->flag_src));
	json_w_kv_cstr(w, "dst", op_pipe_name(f->flag_dst));
	json_w_kv_i64(w, "id", f->flag_id);
	json_w_kv_u64(w, "mode", f->flag_mode);
	json_w_end(w);
}

static void put_fifo(struct json_writer *w, const struct op_form *f, uint32_t aux)
{
	json_w_key(w, "fifo");
	json_w_object(w);
	json_w_kv_u64(w, "object", f->fifo_object);
	json_w_kv_u64(w, "flag_id", f->fifo_flag_id);
	json_w_kv_u64(w, "dir", f->fifo_dir);
	json_w_kv_u64(w, "flags", f->fifo_flags);
	json_w_kv_u64(w, "slot_size", f->fifo_slot_size);
	json_w_kv_u64(w, "slot_num", f->fifo_slot_num);
	json_w_kv_u64(w, "local_num", f->fifo_local_num);
	json_w_kv_u64(w, "tile_index", aux);
	json_w_end(w);
}

static void put_op(struct json_writer *w, const struct opstream *s, size_t seq)
{
	const struct op_exec *x = &s->ops.v[seq];
	const struct op_form *f = &s->forms.v[x->form];
	const struct op_site *site = &s->sites.v[x->site];
	const struct op_derived *d = &s->derived.v[x->form];

	json_w_object(w);
	json_w_kv_u64(w, "seq", seq);
	if (s->strings.v[site->file])
		json_w_kv_cstr(w, "file", opstream_str(s, site->file));
	json_w_kv_u64(w, "line", site->line);
	if (site->hint)
		json_w_kv_cstr(w, "name_hint", opstream_str(s, site->hint));
	json_w_kv_cstr(w, "kind", op_kind_name(f->kind));
	json_w_kv_cstr(w, "op", opstream_str(s, f->name));
	json_w_kv_cstr(w, "pipe", op_pipe_name(f->pipe));
	if (f->n_opnds) {
		json_w_key(w, "opnd");
		json_w_array(w);
		for (unsigned i = 0; i < f->n_opnds; i++)
			put_opnd(w, &s->opnds.v[f->first_opnd + i], s->words.v[x->first_word + i]);
		json_w_end(w);
	}
	put_tmpl(w, f);
	if (f->kind == OPK_SET || f->kind == OPK_WAIT || f->kind == OPK_XSET ||
		f->kind == OPK_XWAIT)
		put_flag(w, f);
	if (f->fifo_dir != DIR_NONE)
		put_fifo(w, f, x->aux);
	json_w_kv_u64(w, "macs", d->macs);
	json_w_kv_u64(w, "bytes", d->bytes);
	json_w_kv_u64(w, "elems", d->elems);
	json_w_end(w);
}

bool opstream_write_jsonl(const struct opstream_set *set, FILE *f, struct incore_error *e)
{
	for (size_t i = 0; i < set->v.n; i++) {
		const struct opstream *s = &set->v.v[i];

		for (size_t k = 0; k <= s->ops.n; k++) { /* the head is line 0 */
			struct json_writer w;

			json_w_file(&w, f, 0);
			if (k == 0)
				put_head(&w, s);
			else
				put_op(&w, s, k - 1);
			if (!json_w_finish(&w, e))
				return false;
			putc('\n', f);
		}
	}
	if (ferror(f))
		return err_write(e);
	return true;
}
