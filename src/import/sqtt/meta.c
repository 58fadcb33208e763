/* SPDX-License-Identifier: Apache-2.0 */
/* meta.c: reads meta.json: target, kernel, load address, the machine, whether the data is
 * synthetic. */
#include "codec/json_reader.h"
#include "import/sqtt/container.h"
#include "import/sqtt/decoder.h"

struct props { /* the used part of device_props */
	int64_t arrays, arrays_per_engine;
};

static void read_props(struct json_reader *r, struct sqtt_meta *m, struct props *p)
{
	struct trace_machine *c = &m->machine;
	struct str key;
	int64_t v;

	if (!json_enter_object_or_null(r))
		return;
	while (json_next_key(r, &key)) {
		if (json_peek(r) != JSON_NUMBER || str_is(key, "unique_id")) {
			json_skip(r);
			continue;
		}
		if (str_is(key, "max_waves_per_simd"))
			json_get_i64(r, &c->max_waves_per_simd);
		else if (str_is(key, "wave_front_size"))
			json_get_i64(r, &c->wave_size);
		else if (str_is(key, "num_xcc"))
			json_get_i64(r, &c->xccs);
		else if (str_is(key, "array_count"))
			json_get_i64(r, &p->arrays);
		else if (str_is(key, "simd_arrays_per_engine"))
			json_get_i64(r, &p->arrays_per_engine);
		else if (str_is(key, "lds_size_in_kb") && json_get_i64(r, &v))
			c->lds_bytes_per_cu = v >= 0 && v < 1 << 20 ? v * 1024 : NO_VALUE;
		else if (!str_is(key, "lds_size_in_kb"))
			json_skip(r);
	}
}

static const char *read_text(struct json_reader *r, struct arena *a, bool *is_nomem)
{
	struct str s;
	const char *copy;

	if (!json_get_str_or_null(r, &s) || !s.n)
		return NULL;
	copy = arena_strndup(a, s.p, s.n);
	*is_nomem |= !copy;
	return copy;
}

bool sqtt_meta_parse(struct sqtt_meta *m, const void *p, size_t n, const char *path,
	struct arena *a, struct incore_error *e)
{
	struct json_reader r;
	struct str key;
	struct sqtt_meta out = *m;
	struct props props = {0, 1};
	bool is_nomem = false, ok;

	json_init(&r, p, n, path, 0);
	if (json_enter_object(&r))
		while (json_next_key(&r, &key)) {
			if (str_is(key, "gfx"))
				out.gfx = read_text(&r, a, &is_nomem);
			else if (str_is(key, "kernel"))
				out.kernel = read_text(&r, a, &is_nomem);
			else if (str_is(key, "load_base"))
				json_get_u64(&r, &out.load_base);
			else if (str_is(key, "device_props"))
				read_props(&r, &out, &props);
			else if (str_is(key, "synthetic"))
				json_get_bool(&r, &out.is_synthetic);
			else
				json_skip(&r);
		}
	ok = json_finish(&r, e);
	json_deinit(&r);
	if (is_nomem)
		return err_nomem(e);
	if (!ok)
		return false;
	if (props.arrays > 0 && props.arrays_per_engine > 0)
		out.machine.ses = props.arrays / props.arrays_per_engine;
	*m = out;
	return true;
}
