/* SPDX-License-Identifier: Apache-2.0 */
/* model_report.c: what the engine found out, as text and as JSON. */
#include "cli/model/model_report.h"

#include "cli/text/table.h"

/* --- JSON --- */

void model_json_profile(struct json_writer *w, const struct profile *p)
{
	json_w_key(w, "profile");
	json_w_object(w);
	json_w_kv_cstr(w, "name", p->name);
	json_w_kv_cstr(w, "arch", op_arch_name(p->arch));
	json_w_kv_cstr(w, "soc", p->soc);
	json_w_kv_double(w, "clock_mhz", (double)p->k[K_CLOCK_MHZ].e4 / PROF_ONE, 4);
	json_w_kv_cstr(w, "calibration", p->calibration);
	json_w_kv_cstr(w, "sha256", p->sha256);
	json_w_kv_bool(w, "v_overlap", p->v_overlap);
	json_w_kv_bool(w, "dma_serial", p->dma_serial);
	json_w_end(w);
}

static void put_lane(struct json_writer *w, unsigned pipe, const struct timed_lane *l)
{
	json_w_row_object(w);
	json_w_kv_cstr(w, "pipe", op_pipe_name(pipe));
	json_w_kv_u64(w, "ops", l->n_ops);
	json_w_kv_u64(w, "busy_cycles", l->busy_cyc);
	json_w_kv_u64(w, "wait_cycles", l->wait_cyc);
	json_w_kv_u64(w, "stall_cycles", l->stall_cyc);
	json_w_kv_cstr(w, "status", prof_status_name((enum prof_status)l->status));
	json_w_end(w);
}

static void put_cores(struct json_writer *w, const struct model_report *r)
{
	json_w_key(w, "cores");
	json_w_array(w);
	for (size_t i = 0; i < r->timed->cores.n; i++) {
		const struct timed_core *k = &r->timed->cores.v[i];

		json_w_object(w);
		json_w_kv_cstr(w, "core", opstream_core_name(&r->set->v.v[k->stream]));
		json_w_kv_u64(w, "block", k->block);
		json_w_kv_u64(w, "cycles", k->end_cyc);
		json_w_kv_bool(w, "complete", k->is_complete);
		json_w_key(w, "pipes");
		json_w_array(w);
		for (unsigned p = 0; p < ENGINE_PIPES; p++)
			if (k->lanes[p].n_ops)
				put_lane(w, p, &k->lanes[p]);
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_side(
	struct json_writer *w, const char *key, const struct opstream_set *set, struct finding_op o)
{
	const struct opstream *s;
	const struct op_exec *x;

	json_w_key(w, key);
	if (o.op == NO_OP) {
		json_w_null(w);
		return;
	}
	s = &set->v.v[o.stream];
	x = &s->ops.v[o.op];
	json_w_row_object(w);
	json_w_kv_cstr(w, "op", opstream_str(s, s->forms.v[x->form].name));
	json_w_kv_u64(w, "seq", o.op);
	json_w_kv_cstr(w, "file", opstream_str(s, s->sites.v[x->site].file));
	json_w_kv_u64(w, "line", s->sites.v[x->site].line);
	json_w_kv_cstr(w, "pipe", op_pipe_name(o.pipe));
	json_w_kv_cstr(w, "core", opstream_core_name(s));
	json_w_kv_u64(w, "block", s->block_idx);
	json_w_end(w);
}

static void put_finding(
	struct json_writer *w, const struct opstream_set *set, const struct model_finding *f)
{
	json_w_object(w);
	json_w_kv_cstr(w, "kind", finding_name(f->kind));
	json_w_kv_cstr(w, "message", f->message);
	json_w_kv_u64(w, "count", f->count);
	put_side(w, "a", set, f->a);
	put_side(w, "b", set, f->b);
	if (f->buffer) {
		json_w_kv_cstr(w, "hazard", f->hazard);
		json_w_kv_cstr(w, "buffer", f->buffer);
		json_w_kv_u64(w, "first_byte", f->first_byte);
		json_w_kv_u64(w, "end_byte", f->end_byte);
		json_w_kv_cstr(w, "missing", f->missing);
	}
	if (f->n_lines) {
		json_w_key(w, "lines");
		json_w_array(w);
		for (uint32_t i = 0; i < f->n_lines; i++)
			json_w_cstr(w, f->lines[i]);
		json_w_end(w);
	}
	json_w_end(w);
}

void model_json_report(struct json_writer *w, const struct model_report *r)
{
	const struct timed *t = r->timed;

	json_w_kv_cstr(w, "evidence", "estimate");
	json_w_kv_cstr(w, "text", MODEL_TEXT);
	model_json_profile(w, r->profile);
	json_w_kv_bool(w, "complete", t->is_complete);
	json_w_kv_cstr(w, "reason", t->reason);
	json_w_kv_u64(w, "ops", t->n_ops);
	json_w_kv_u64(w, "fallback_ops", t->n_fallback);
	json_w_kv_u64(w, "unknown_ops", t->n_unknown);
	json_w_kv_u64(w, "external_waits", t->n_external);
	model_json_streams(w, r->set);
	put_cores(w, r);
	json_w_key(w, "findings");
	json_w_array(w);
	for (size_t i = 0; i < t->findings.n; i++)
		put_finding(w, r->set, &t->findings.v[i]);
	json_w_end(w);
}

/* --- text --- */

/* Slots whose values nobody supplied: none of them steered the kernel. */
static void put_missing(FILE *out, const struct opstream *s)
{
	const char *before = ", no values for slot ";

	for (unsigned i = 0; i < OPSTREAM_SLOTS; i++) {
		if (!(s->missing_slots >> i & 1))
			continue;
		fprintf(out, "%s%u", before, i);
		before = ", ";
	}
}

static void put_head(FILE *out, const struct model_report *r)
{
	const struct profile *p = r->profile;
	const struct opstream *s = &r->set->v.v[0];
	char a[32], b[32];

	fprintf(out, "%s: %s%s\n", opstream_str(s, s->kernel), MODEL_TEXT,
		p->arch == ARCH_A5 ? ", uncalibrated" : "");
	fprintf(out, "profile    %s (%s), %s, %.0f MHz%s%s\n", p->name, op_arch_name(p->arch),
		p->calibration, (double)p->k[K_CLOCK_MHZ].e4 / PROF_ONE,
		p->v_overlap ? ", v_overlap on" : "", p->dma_serial ? ", dma_serial on" : "");
	if (r->is_file)
		fprintf(out, "           SHA-256 %s\n", p->sha256);
	fprintf(out, "arguments  %s", s->args_origin == ARGS_DUMP ? "from a dump" : "synthetic");
	put_missing(out, s);
	fputs("; outputs are not computed\n", out);
	fprintf(out, "ops        %s", fmt_u64(a, r->timed->n_ops));
	if (r->timed->n_fallback)
		fprintf(out, ", %s at a price not their own", fmt_u64(b, r->timed->n_fallback));
	if (r->timed->n_unknown)
		fprintf(out, ", %s unknown", fmt_u64(b, r->timed->n_unknown));
	if (r->timed->n_external)
		fprintf(out, ", %s wait for something outside", fmt_u64(b, r->timed->n_external));
	fputc('\n', out);
	if (!r->timed->is_complete)
		fprintf(out, "INCOMPLETE %s\n", r->timed->reason ? r->timed->reason : "");
}

static bool put_lanes(struct cli *c, const struct model_report *r)
{
	static const struct table_column columns[] = {
		{"block", NULL, CELL_RIGHT, false},
		{"core", NULL, CELL_LEFT, false},
		{"cycles", NULL, CELL_RIGHT, false},
		{"us", NULL, CELL_RIGHT, false},
		{"pipe", NULL, CELL_LEFT, false},
		{"ops", NULL, CELL_RIGHT, false},
		{"busy", "busy_cycles", CELL_RIGHT, false},
		{"%", "busy_pct", CELL_RIGHT, false},
		{"wait", "wait_cycles", CELL_RIGHT, false},
		{"stall", "stall_cycles", CELL_RIGHT, false},
		{"status", NULL, CELL_LEFT, false},
	};
	struct table t;
	bool ok;

	table_init(&t, columns, 11);
	for (size_t i = 0; i < r->timed->cores.n; i++) {
		const struct timed_core *k = &r->timed->cores.v[i];

		for (unsigned p = 0; p < ENGINE_PIPES; p++) {
			const struct timed_lane *l = &k->lanes[p];

			if (!l->n_ops)
				continue;
			table_u64(&t, k->block);
			table_cstr(&t, opstream_core_name(&r->set->v.v[k->stream]));
			table_u64(&t, k->end_cyc);
			table_double(&t,
				(double)k->end_cyc * PROF_ONE /
					(double)r->profile->k[K_CLOCK_MHZ].e4,
				2);
			table_cstr(&t, op_pipe_name(p));
			table_u64(&t, l->n_ops);
			table_u64(&t, l->busy_cyc);
			table_pct(&t, l->busy_cyc, k->end_cyc);
			table_u64(&t, l->wait_cyc);
			table_u64(&t, l->stall_cyc);
			table_cstr(&t, prof_status_name((enum prof_status)l->status));
		}
	}
	ok = table_print(&t, c) || err_nomem(&c->error);
	table_deinit(&t);
	return ok;
}

bool model_is_note(const struct model_finding *f)
{
	return f->kind == FIND_BLOCKS_SHARE;
}

static void put_findings(FILE *out, const struct timed *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->findings.n; i++)
		n += !model_is_note(&t->findings.v[i]);
	fprintf(out, "\n%s%zu finding%s\n", n ? "" : "ok: ", n, plural(n));
	for (size_t i = 0; i < t->findings.n; i++) {
		const struct model_finding *f = &t->findings.v[i];

		fprintf(out, "%s%s\n", model_is_note(f) ? "note: " : "", f->message);
		for (uint32_t k = 0; k < f->n_lines; k++)
			fprintf(out, "    %s\n", f->lines[k]);
	}
}

bool model_text_report(struct cli *c, const struct model_report *r)
{
	if (c->use_csv)
		return put_lanes(c, r);
	put_head(c->out, r);
	fputc('\n', c->out);
	if (!put_lanes(c, r))
		return false;
	put_findings(c->out, r->timed);
	return true;
}
