/* SPDX-License-Identifier: Apache-2.0 */
/* record.c: from a kernel's source to its op streams. */
#include "model/record/record.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "model/record/record_internal.h"

static bool load_unit(
	struct record_unit *u, const char *source, enum opstream_core core, struct incore_error *e)
{
	struct sha256 s;

	*u = (struct record_unit){.source = source, .core = core, .n_lanes = 1};
	if (!file_load(&u->text, source, e))
		return err_wrap(e, "kernel source");
	sha256_init(&s);
	sha256_add(&s, u->text.data, u->text.size);
	sha256_hex(&s, u->sha256);
	return true;
}

static void free_unit(struct record_unit *u)
{
	file_unload(&u->text);
	*u = (struct record_unit){0};
}

/* --- name hints --- */

#define HINT "// pto: %"
#define HINT_REACH 8 /* lines searched above a tile op for its name; generated code needs seven */

/* The "%name" on a line, or empty. */
static struct str hint_of(struct str line)
{
	ptrdiff_t at = str_find(line, HINT);
	size_t n = 1;
	struct str s;

	if (at < 0)
		return (struct str){0};
	s = str_sub(line, (size_t)at + strlen(HINT) - 1, line.n);
	while (n < s.n && (unsigned char)s.p[n] > ' ')
		n++;
	return str_sub(s, 0, n);
}

static bool is_of(const struct opstream *s, const struct op_site *site, const char *source)
{
	return strcmp(opstream_str(s, site->file), source) == 0;
}

/* The nearest hint above a line, or empty. */
static struct str hint_above(const struct str *hints, size_t n, uint32_t line)
{
	for (uint32_t up = 0; up <= HINT_REACH && up < line; up++)
		if (line - up <= n && hints[line - up - 1].n)
			return hints[line - up - 1];
	return (struct str){0};
}

/* Only tile ops have names; flags and barriers are in between. */
static bool set_hints(struct opstream *s, const char *source, const struct str *hints, size_t n,
	struct incore_error *e)
{
	EACH (const struct op_exec, x, s->ops.v, s->ops.n) {
		struct op_site *site = &s->sites.v[x->site];
		unsigned kind = s->forms.v[x->form].kind;
		struct str hint;

		if ((kind != OPK_OP && kind != OPK_PUSH && kind != OPK_POP) || site->hint ||
			!is_of(s, site, source))
			continue;
		hint = hint_above(hints, n, site->line);
		if (hint.n && !opstream_add_str(s, hint, &site->hint, e))
			return false;
	}
	return true;
}

bool record_hints(struct opstream *s, const struct record_unit *u, struct incore_error *e)
{
	struct str text = {(const char *)u->text.data, u->text.size}, rest = text, line;
	VEC(struct str) hints = {0};
	bool ok = true;

	if (!str_has(text, HINT))
		return true;
	while (ok && str_cut(&rest, "\n", &line))
		ok = VEC_PUSH(&hints, hint_of(line)) || err_nomem(e);
	ok = ok && set_hints(s, u->source, hints.v, hints.n, e);
	VEC_FREE(&hints);
	return ok;
}

/* --- all of it --- */

/* The units that run on one block; a unit without a source is absent. */
struct units {
	struct record_unit aic, aiv[2];
};

/* Moves streams so that those of each block are adjacent: AIC, AIV0, AIV1. */
static bool unite_streams(struct opstream_set *out, struct opstream_set parts[3], size_t blocks,
	struct incore_error *e)
{
	size_t total = parts[0].v.n + parts[1].v.n + parts[2].v.n;

	if (!VEC_RESERVE(&out->v, out->v.n + total))
		return err_nomem(e);
	for (size_t b = 0; b < blocks; b++)
		for (unsigned p = 0; p < 3; p++) {
			size_t each = parts[p].v.n / blocks;

			for (size_t i = 0; i < each; i++)
				out->v.v[out->v.n++] = parts[p].v.v[b * each + i];
		}
	for (unsigned p = 0; p < 3; p++)
		parts[p].v.n = 0; /* moved */
	return true;
}

static bool run_units(struct units *u, const struct record_options *o, struct opstream_set *out,
	struct incore_error *e)
{
	struct record_unit *all[3] = {&u->aic, &u->aiv[0], &u->aiv[1]};
	unsigned lanes = (u->aiv[0].source ? u->aiv[0].n_lanes : 0) + (u->aiv[1].source != NULL);
	unsigned mixed = u->aic.source || lanes > 1 ? lanes : 0;
	struct opstream_set parts[3];
	bool ok = true;

	for (unsigned p = 0; p < 3; p++)
		opstream_set_init(&parts[p]);
	for (unsigned p = 0; ok && p < 3; p++)
		ok = !all[p]->source || record_run_unit(all[p], o, mixed, &parts[p], e);
	ok = ok && unite_streams(out, parts, o->blocks ? o->blocks : 1, e);
	for (unsigned p = 0; p < 3; p++)
		opstream_set_deinit(&parts[p]);
	return ok;
}

static bool record_units(const struct record_options *o, struct units *u, struct opstream_set *out,
	struct record_info *info, struct incore_error *e)
{
	struct record_unit *all[3] = {&u->aic, &u->aiv[0], &u->aiv[1]};
	struct record_tools t;
	uint64_t from;
	bool ok = record_tools_find(&t, o, e);

	for (unsigned p = 0; p < 3; p++) {
		ok = ok && (!all[p]->source || record_compile(all[p], &t, o, e));
		info->compile_us += all[p]->compile_us;
	}
	from = record_now_us();
	ok = ok && run_units(u, o, out, e);
	record_tools_free(&t);
	info->run_us = record_now_us() - from;
	info->was_cached = info->compile_us == 0;
	return ok;
}

/* Loads the vector side: one source for its lanes, or one per lane. */
static bool load_lanes(struct units *u, const struct record_options *o, enum kernel_core cores,
	struct incore_error *e)
{
	const char *lane0 = cores == KERNEL_ON_MIX && o->kernel_aiv ? o->kernel_aiv : o->kernel;
	bool is_both = cores == KERNEL_ON_MIX || o->kernel_aiv1;

	if (cores == KERNEL_ON_AIC)
		return true;
	if (!load_unit(&u->aiv[0], lane0, CORE_AIV, e))
		return false;
	if (!o->kernel_aiv1) {
		unsigned lanes = o->lanes ? o->lanes : is_both ? 3 : 1;

		u->aiv[0].n_lanes = lanes == 3 ? 2 : 1;
		u->aiv[0].first_lane = lanes == 2;
		return true;
	}
	if (!load_unit(&u->aiv[1], o->kernel_aiv1, CORE_AIV, e))
		return false;
	u->aiv[1].first_lane = 1;
	return true;
}

bool record_is_possible(const struct record_options *o, struct incore_error *e)
{
	struct record_tools t;
	bool ok = record_tools_find(&t, o, e);

	record_tools_free(&t);
	return ok;
}

bool record_kernel(const struct record_options *o, struct opstream_set *out,
	struct record_info *info, struct incore_error *e)
{
	struct units u = {0};
	struct core_evidence evidence = {.said = o->cores, .path = o->kernel};
	struct core_answer answer;
	bool ok;

	*info = (struct record_info){0};
	if (!load_unit(&u.aic, o->kernel, CORE_AIC, e))
		return false;
	if (o->cores == KERNEL_ON_ANY && o->kernel_aiv)
		evidence.said = KERNEL_ON_MIX; /* separate sources for both sides */
	evidence.text = (struct str){(const char *)u.aic.text.data, u.aic.text.size};
	answer = cores_decide(&evidence);
	info->cores = answer.core;
	log_debug("model", "%s: %s (%s)", o->kernel, kernel_core_name(answer.core), answer.reason);
	if (answer.core == KERNEL_ON_AIV)
		free_unit(&u.aic);
	ok = load_lanes(&u, o, answer.core, e) && record_units(o, &u, out, info, e);
	free_unit(&u.aic);
	free_unit(&u.aiv[0]);
	free_unit(&u.aiv[1]);
	return ok;
}
