/* SPDX-License-Identifier: Apache-2.0 */
/* write.c: writes buffers as files and slots as an arg-spec that all our commands accept. */
#include <errno.h>
#include <sys/stat.h>

#include "args/args.h"
#include "base/file.h"
#include "codec/json_writer.h"

static bool write_bytes(const char *path, const void *p, uint64_t n, struct incore_error *e)
{
	struct out_file o = {0};

	if (!out_file_open(&o, path, e))
		return false;
	fwrite(p, 1, n, o.f);
	return out_file_commit(&o, e);
}

/* Buffers that were not filled are zero and get no file. */
static bool write_buffers(struct args *a, const char *folder, struct incore_error *e)
{
	for (size_t i = 0; i < a->buffers.n; i++) {
		struct arg_buffer *b = &a->buffers.v[i];
		char *path;

		if (!b->is_known || b->is_zero)
			continue;
		b->file = arena_printf(&a->arena, "args/buffer_%02zu.bin", i);
		path = b->file ? arena_printf(&a->arena, "%s/%s", folder, b->file) : NULL;
		if (!path)
			return err_nomem(e);
		if (!write_bytes(path, b->p, b->n, e))
			return false;
	}
	return true;
}

void arg_put_dims(struct json_writer *w, const char *key, const uint64_t *v, uint32_t n)
{
	json_w_kv_row(w, key);
	for (uint32_t i = 0; i < n; i++)
		json_w_u64(w, v[i]);
	json_w_end(w);
}

static void put_tensor(struct json_writer *w, const struct args *a, const struct arg *s)
{
	const struct arg_buffer *b = &a->buffers.v[s->buffer];

	arg_put_dims(w, "shape", s->shape, s->n_dims);
	arg_put_dims(w, "strides", s->strides, s->n_dims);
	json_w_kv_u64(w, "start_offset", s->start_offset);
	json_w_kv_cstr(w, "role", !s->is_read ? "output" : s->is_written ? "inout" : "input");
	json_w_kv_u64(w, "buffer", s->buffer);
	json_w_kv_u64(w, "buffer_bytes", b->n);
	if (b->file) {
		json_w_kv_row_object(w, "data");
		json_w_kv_cstr(w, "file", b->file);
		json_w_kv_u64(w, "offset", 0);
		json_w_end(w);
	} else {
		json_w_kv_cstr(w, "fill", args_content(a, s).is_filled ? "zero" : "none");
	}
}

static bool write_spec(struct args *a, const char *folder, struct incore_error *e)
{
	char *path = arena_printf(&a->arena, "%s/args.json", folder);
	struct strbuf b = {0};
	struct json_writer w;
	bool ok;

	json_w_buf(&w, &b, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "args_origin", a->is_recorded ? "dump" : "synthetic");
	json_w_kv_array(&w, "args");
	for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++) {
		const struct arg *s = &a->slots[i];

		if (!s->is_used)
			continue;
		json_w_row_object(&w);
		json_w_kv_cstr(&w, "kind", s->is_tensor ? "tensor" : "scalar");
		json_w_kv_u64(&w, "index", i);
		json_w_kv_cstr(&w, "name", s->name);
		json_w_kv_cstr(&w, "dtype", s->is_tensor ? dtype_name(s->dtype) : "UINT64");
		if (s->is_tensor) {
			put_tensor(&w, a, s);
		} else { /* the slot's bits, for any other type */
			json_w_kv_u64(&w, "value", args_bits(a, 0, i));
			json_w_kv_cstr(&w, "pack_mode", "bits");
		}
		json_w_end(&w);
	}
	json_w_end(&w);
	json_w_end(&w);
	sb_putc(&b, '\n');
	ok = (!b.failed && path) ? write_bytes(path, b.p, b.n, e) : err_nomem(e);
	sb_free(&b);
	return ok;
}

bool args_write(struct args *a, const char *folder, struct incore_error *e)
{
	char *dir = arena_printf(&a->arena, "%s/args", folder);

	if (!dir)
		return err_nomem(e);
	if (mkdir(dir, 0755) != 0 && errno != EEXIST)
		return err_errno(e, errno, dir, "make the directory");
	return write_buffers(a, folder, e) && write_spec(a, folder, e);
}
