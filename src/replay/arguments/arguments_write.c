/* SPDX-License-Identifier: Apache-2.0 */
/* arguments_write.c: buffers as files, slots as an arg-spec that any of our commands takes. */
#include <errno.h>
#include <sys/stat.h>

#include "base/file.h"
#include "codec/json_writer.h"
#include "dump/dtype.h"
#include "replay/arguments/arguments.h"

static bool write_bytes(const char *path, const void *p, uint64_t n, struct incore_error *e)
{
	struct out_file o = {0};

	if (!out_file_open(&o, path, e))
		return false;
	fwrite(p, 1, n, o.f);
	return out_file_commit(&o, e);
}

/* Buffers that nobody filled are zeros: no file for them. */
static bool write_buffers(struct arguments *a, const char *workspace, struct incore_error *e)
{
	for (size_t i = 0; i < a->buffers.n; i++) {
		struct replay_buffer f = {.bytes = a->buffers.v[i].n};

		if (a->buffers.v[i].is_known && !a->buffers.v[i].is_zero) {
			char *path;

			f.file = arena_printf(&a->arena, "args/buffer_%02zu.bin", i);
			path = f.file ? arena_printf(&a->arena, "%s/%s", workspace, f.file) : NULL;
			if (!path)
				return err_nomem(e);
			if (!write_bytes(path, a->buffers.v[i].p, a->buffers.v[i].n, e))
				return false;
		}
		if (!VEC_PUSH(&a->files, f))
			return err_nomem(e);
	}
	return true;
}

static void put_list(struct json_writer *w, const char *key, const uint32_t *v, uint32_t n)
{
	json_w_key(w, key);
	json_w_row(w);
	for (uint32_t i = 0; i < n; i++)
		json_w_u64(w, v[i]);
	json_w_end(w);
}

static void put_tensor(
	struct json_writer *w, const struct arguments *a, const struct replay_slot *s)
{
	const struct replay_buffer *f = &a->files.v[s->buffer];

	put_list(w, "shape", s->shape, s->n_dims);
	put_list(w, "strides", s->strides, s->n_dims);
	json_w_key(w, "start_offset");
	json_w_u64(w, s->start_offset);
	json_w_key(w, "role");
	json_w_str(w, str_of(!s->is_read ? "output" : s->is_written ? "inout" : "input"));
	json_w_key(w, "buffer");
	json_w_u64(w, s->buffer);
	json_w_key(w, "buffer_bytes");
	json_w_u64(w, f->bytes);
	if (f->file) {
		json_w_key(w, "data");
		json_w_row_object(w);
		json_w_key(w, "file");
		json_w_str(w, str_of(f->file));
		json_w_key(w, "offset");
		json_w_u64(w, 0);
		json_w_end(w);
	} else {
		json_w_key(w, "fill");
		json_w_str(w,
			str_of(a->buffers.v[s->buffer].is_known || !s->is_read ? "zero" : "none"));
	}
}

static bool write_spec(struct arguments *a, const char *workspace, struct incore_error *e)
{
	char *path = arena_printf(&a->arena, "%s/args.json", workspace);
	struct strbuf b = {0};
	struct json_writer w;
	bool ok;

	json_w_buf(&w, &b, 1);
	json_w_object(&w);
	json_w_key(&w, "args_origin");
	json_w_str(&w, str_of(a->is_recorded ? "dump" : "synthetic"));
	json_w_key(&w, "args");
	json_w_array(&w);
	for (uint32_t i = 0; i < REPLAY_LOCAL_CONTEXT; i++) {
		const struct replay_slot *s = &a->rows.v[0].slots[i];

		if (!s->is_used)
			continue;
		json_w_row_object(&w);
		json_w_key(&w, "kind");
		json_w_str(&w, str_of(s->is_tensor ? "tensor" : "scalar"));
		json_w_key(&w, "index");
		json_w_u64(&w, i);
		json_w_key(&w, "name");
		json_w_str(&w, str_of(s->name));
		json_w_key(&w, "dtype");
		json_w_str(&w, str_of(s->is_tensor ? dtype_name(s->dtype) : "UINT64"));
		if (s->is_tensor) {
			put_tensor(&w, a, s);
		} else { /* the slot's bits, whatever its type was */
			json_w_key(&w, "value");
			json_w_u64(&w, s->bits);
			json_w_key(&w, "pack_mode");
			json_w_str(&w, STR("bits"));
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

bool arguments_write(struct arguments *a, const char *workspace, struct incore_error *e)
{
	char *dir = arena_printf(&a->arena, "%s/args", workspace);

	if (!dir)
		return err_nomem(e);
	if (mkdir(dir, 0755) != 0 && errno != EEXIST)
		return err_errno(e, errno, dir, "make the directory");
	if (!write_buffers(a, workspace, e) || !write_spec(a, workspace, e))
		return false;
	for (size_t i = 0; i < a->rows.n; i++)
		if (!VEC_PUSH(&a->blocks, (struct replay_block){a->first_block + (uint32_t)i,
						  a->block_count, a->rows.v[i].slots}))
			return err_nomem(e);
	return true;
}
