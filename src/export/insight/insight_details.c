/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight_details.c: the blocks of details (types 0x05 to 0x0F) that the producer wrote with its
 * trace, unchanged. If it gave no base information (0x05), we write what the trace knows: the
 * kernel, its SoC, how long it took.
 */
#include <stdlib.h>

#include "codec/insight_blocks.h"
#include "codec/json_writer.h"
#include "export/insight/insight.h"

static const char *const op_types[] = {"AiCore", "cube", "vector", "mix"};

static void put_base(const struct insight *s, struct json_writer *w)
{
	uint64_t begin = UINT64_MAX, end = 0;
	unsigned kinds = 0;

	for (track_idx i = 0; i < s->t->n_tracks; i++) {
		const struct track *k = &s->t->tracks[i];

		if (s->unit_of[i] == INSIGHT_NO_UNIT)
			continue;
		kinds |= s->units.v[s->unit_of[i]].kind; /* ASCEND_CUBE | ASCEND_VEC: mix */
		begin = k->begin_cyc < begin ? k->begin_cyc : begin;
		end = k->end_cyc > end ? k->end_cyc : end;
	}
	json_w_object(w);
	json_w_kv_array(w, "advice");
	json_w_end(w);
	if (s->t->meta.launch.workgroups > 0)
		json_w_kv_i64(w, "block_dim", s->t->meta.launch.workgroups);
	if (end > begin && !s->is_cycles)
		json_w_kv_double(w, "duration", (double)(end - begin) / trace_clock_mhz(s->t), 3);
	json_w_kv_cstr(w, "name", s->t->meta.kernel ? s->t->meta.kernel : "");
	json_w_kv_cstr(w, "op_type", op_types[kinds & 3]);
	json_w_kv_cstr(w, "soc", s->t->meta.arch ? s->t->meta.arch : "");
	json_w_end(w);
}

/* Did the input have such a block, of which the trace kept only other tables? */
static bool insight_details_is_left_out(const struct insight *s, unsigned type)
{
	for (uint32_t i = 0; i < s->t->n_tables; i++)
		if (strcmp(s->t->tables[i].origin, insight_type_name(type)) == 0)
			return true;
	return false;
}

bool insight_put_detail(struct insight *s, unsigned type, struct strbuf *out)
{
	const struct named_table *k = trace_find_table(s->t, ASCEND_TABLE_DETAILS);
	struct json_writer w;

	for (uint32_t i = 0; k && i < k->n_rows; i++) {
		const char *json = named_table_cell(k, i, "json");
		const char *number = named_table_cell(k, i, "type");

		if (json && number && strtoul(number, NULL, 10) == type) {
			s->n_bytes_replaced += insight_put_utf8(out, str_of(json));
			return !out->failed;
		}
	}
	s->n_details_left += insight_details_is_left_out(s, type);
	if (type == INSIGHT_BASE_INFO && (s->t->meta.kernel || s->t->meta.arch)) {
		json_w_buf(&w, out, 0);
		put_base(s, &w);
	}
	return !out->failed;
}
