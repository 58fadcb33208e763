/* SPDX-License-Identifier: Apache-2.0 */
/* producers_json.c: producers as JSON, for the command line and the viewer alike. */
#include "analysis/ratio.h"
#include "analysis/waves/producers.h"

void producers_json(
	const struct producers *p, enum attribution a, uint64_t top, struct json_writer *w)
{
	const struct producer_groups *g = producers_get(p, a);
	char name[WAIT_KEY_LEN];

	json_w_kv_cstr(w, "attribution", attribution_name(a));
	json_w_key(w, "groups");
	json_w_array(w);
	for (size_t i = 0; i < g->groups.n && i < top; i++) {
		json_w_row_object(w);
		json_w_kv_cstr(w, "key", wait_key_name(g->groups.v[i].key, name));
		json_w_kv_u64(w, "wait", g->groups.v[i].wait_cyc);
		json_w_kv_u64(w, "waits", g->groups.v[i].n_waits);
		json_w_kv_u64(w, "blocked", g->groups.v[i].n_blocked);
		ratio_json(w, "per_wait", g->groups.v[i].wait_cyc, g->groups.v[i].n_waits);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_kv_u64(w, "wait", g->wait_cyc);
	json_w_kv_u64(w, "barrier", g->barrier_cyc);
	json_w_kv_u64(w, "sleep", g->sleep_cyc);
	json_w_key(w, "waits");
	json_w_row_object(w);
	json_w_kv_u64(w, "executed", p->n_waits);
	json_w_kv_u64(w, "free", p->n_free);
	json_w_kv_u64(w, "blocked", p->n_blocked);
	json_w_kv_u64(w, "exact", p->n_exact);
	json_w_kv_u64(w, "group", p->n_group);
	json_w_kv_u64(w, "unresolved", p->n_unresolved);
	json_w_kv_u64(w, "drained", p->n_drained);
	json_w_end(w);
}

void producers_json_edge(
	const struct producers *p, const struct producer_edge *edge, struct json_writer *w)
{
	json_w_kv_i64(w, "producer", p->trace->code[edge->producer].number);
	json_w_kv_i64(w, "wait", p->trace->code[edge->wait].number);
	json_w_kv_u64(w, "count", edge->count);
	json_w_kv_u64(w, "blocked", edge->n_blocked);
	json_w_kv_u64(w, "inexact", edge->n_inexact);
	json_w_kv_u64(w, "stall", edge->stall_cyc);
	json_w_kv_u64(w, "shared", edge->shared_cyc);
	json_w_kv_u64(w, "cycles", edge->stall_cyc + edge->shared_cyc);
	distribution_json(w, "latency", &edge->latency);
}

void producers_json_edges(const struct producers *p, uint64_t top, struct json_writer *w)
{
	json_w_key(w, "edges");
	json_w_array(w);
	for (size_t i = 0; i < p->edges.n && i < top; i++) {
		json_w_row_object(w);
		producers_json_edge(p, &p->edges.v[i], w);
		json_w_end(w);
	}
	json_w_end(w);
}
