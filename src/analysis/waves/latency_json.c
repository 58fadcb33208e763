/* SPDX-License-Identifier: Apache-2.0 */
/* latency_json.c: load-to-wait latency as JSON. */
#include "analysis/waves/latency.h"

void latency_json(const struct latency *l, struct json_writer *w)
{
	json_w_key(w, "latency");
	json_w_array(w);
	for (size_t i = 0; i < l->rows.n; i++) {
		const struct latency_row *r = &l->rows.v[i];

		json_w_object(w);
		json_w_kv_cstr(w, "opcode",
			r->opcode < l->trace->n_opcodes ? l->trace->opcodes[r->opcode] : "");
		json_w_kv_bool(w, "to_lds", r->is_to_lds);
		json_w_kv_cstr(w, "counter", amd_counter_name((enum amd_counter)r->counter));
		json_w_kv_u64(w, "exact", r->n_exact);
		json_w_kv_u64(w, "upper_bound", r->n_bound);
		json_w_kv_u64(w, "group", r->n_group);
		json_w_kv_u64(w, "unresolved", r->n_unresolved);
		json_w_kv_u64(w, "older", r->n_older);
		distribution_json(w, "cycles", &r->all);
		distribution_json(w, "exact_cycles", &r->exact);
		distribution_json(w, "group_high_cycles", &r->group_high);
		distribution_json(w, "distance_instructions", &r->distance);
		distribution_json(w, "distance_cycles", &r->distance_cyc);
		distribution_json(w, "in_flight", &r->in_flight);
		json_w_end(w);
	}
	json_w_end(w);
}
