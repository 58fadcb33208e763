/* SPDX-License-Identifier: Apache-2.0 */
/*
 * * check_rules_capture.c: was anything traced, and is the trace complete? Shells, missed compute
 * units and shader engines, truncation, missing and unlisted wave files, damaged files. Divisions:
 * machine; capture.
 */
#include "analysis/check/check_internal.h"
#include "isa/amd_operands.h"

/* --- machine ---------------------------------------------------------------------------------- */

void rule_repeated(struct check *c)
{
	const struct check_context *x = c->ctx;
	struct strbuf list = {0};
	struct finding *f;

	if (!x || x->n_siblings < 2)
		return;
	f = check_add(c, "repeated-capture");
	for (uint32_t i = 0; i < x->n_siblings; i++) {
		if (x->siblings[i].dispatch != NO_VALUE)
			sb_printf(&list, "%s%lld (%llu wave%s)", i ? ", " : "",
				(long long)x->siblings[i].dispatch,
				(unsigned long long)x->siblings[i].n_tracks,
				plural(x->siblings[i].n_tracks));
		else
			sb_printf(&list, "%s%s (%llu wave%s)", i ? ", " : "",
				x->siblings[i].path ? x->siblings[i].path : "?",
				(unsigned long long)x->siblings[i].n_tracks,
				plural(x->siblings[i].n_tracks));
	}
	finding_say(c, f, "the same kernel was captured %u times: dispatches %s", x->n_siblings,
		check_text(c, &list));
	fact_int(f, "captures", x->n_siblings);
	fact_text(c, f, "dispatches", "%s", check_text(c, &list));
	sb_free(&list);
}

void rule_kernel_ids(struct check *c)
{
	const struct trace *t = c->trace;
	const struct trace_launch *l = &t->meta.launch;
	struct strbuf ids = {0};
	unsigned n = 0;
	struct finding *f;

	for (uint32_t i = 0; t->meta.kernel && i < t->n_kernel_names; i++)
		if (str_is(str_of(t->kernel_names[i].name), t->meta.kernel))
			sb_printf(&ids, "%s%u", n++ ? "," : "", t->kernel_names[i].id);
	if (n < 2) {
		sb_free(&ids);
		return;
	}
	f = check_add(c, "several-kernel-ids");
	if (l->launch_index != NO_VALUE && l->launch_count != NO_VALUE)
		finding_say(c, f,
			"%u kernel ids carry this name (%s); this is launch %lld of %lld of kernel id %lld",
			n, check_text(c, &ids), (long long)l->launch_index,
			(long long)l->launch_count, (long long)l->kernel_id);
	else
		finding_say(c, f, "%u kernel ids carry this name: %s", n, check_text(c, &ids));
	fact_int(f, "kernel_ids", n);
	fact_text(c, f, "ids", "%s", check_text(c, &ids));
	sb_free(&ids);
}

/* The clock this target should reach; 0: unknown, do not judge. */
static double clock_limit(const struct trace *t, const char **source)
{
	if (t->meta.machine.max_clock_mhz != NO_VALUE && t->meta.machine.max_clock_mhz > 0) {
		*source = "stated by the capture";
		return (double)t->meta.machine.max_clock_mhz;
	}
	*source = "assumed for gfx950";
	return str_is(str_of(t->meta.arch), "gfx950") ? 2200 : 0;
}

static const struct check_sibling *unlike_sibling(const struct check *c, double mhz)
{
	for (uint32_t i = 0; c->ctx && i < c->ctx->n_siblings; i++) {
		const struct check_sibling *s = &c->ctx->siblings[i];
		double off = s->clock_mhz - mhz;

		if (!s->is_self && s->clock_mhz > 0 && (off > 0.03 * mhz || off < -0.03 * mhz))
			return s;
	}
	return NULL;
}

void rule_clock(struct check *c)
{
	double mhz = trace_clock_mhz(c->trace), max;
	const char *source = NULL;
	const struct check_sibling *s;
	struct finding *f;

	if (mhz <= 0)
		return;
	max = clock_limit(c->trace, &source);
	s = unlike_sibling(c, mhz);
	if (!(max > 0 && mhz < 0.97 * max) && !s)
		return;
	f = check_add(c, "throttled-clock");
	if (max > 0 && mhz < 0.97 * max)
		finding_say(c, f, "the shader clock was %.1f MHz, %.1f %% of its maximum", mhz,
			100 * mhz / max);
	else
		finding_say(c, f, "the shader clock was %.1f MHz, that of dispatch %lld %.1f MHz",
			mhz, (long long)s->dispatch, s->clock_mhz);
	fact_real(f, "clock_mhz", mhz, 1);
	if (max > 0) {
		fact_real(f, "max_clock_mhz", max, 0);
		fact_real(f, "share", mhz / max, 6);
		fact_text(c, f, "maximum", "%s", source);
	}
	if (s)
		fact_real(f, "sibling_clock_mhz", s->clock_mhz, 1);
}

struct se_start {
	int64_t first_cyc;
	bool is_used, has_start;
};

static struct se_start *first_starts(struct check *c)
{
	const struct trace *t = c->trace;
	struct se_start *v = arena_zalloc(&c->arena, (size_t)t->n_clocks + 1, sizeof(*v));

	c->is_nomem |= !v;
	if (!v)
		return NULL;
	EACH (const struct occupancy_event, o, t->occupancy, t->n_occupancy) {
		int64_t at = trace_aligned(t, o->clock, o->time_cyc);

		if (o->clock >= t->n_clocks)
			continue;
		v[o->clock].is_used = true;
		if (!o->is_start || (v[o->clock].has_start && v[o->clock].first_cyc <= at))
			continue;
		v[o->clock].has_start = true;
		v[o->clock].first_cyc = at;
	}
	for (track_idx i = 0; i < t->n_tracks; i++)
		if (t->tracks[i].clock < t->n_clocks)
			v[t->tracks[i].clock].is_used = true;
	return v;
}

void rule_alignment(struct check *c)
{
	const struct trace *t = c->trace;
	const struct se_start *v = first_starts(c);
	unsigned n_used = 0, n_loose = 0;
	int64_t lo = INT64_MAX, hi = INT64_MIN;
	struct finding *f;

	if (!v)
		return;
	for (clock_idx k = 0; k < t->n_clocks; k++) {
		n_used += v[k].is_used;
		n_loose += v[k].is_used && !t->clocks[k].is_aligned;
		if (!v[k].has_start || !t->clocks[k].is_aligned)
			continue;
		lo = v[k].first_cyc < lo ? v[k].first_cyc : lo;
		hi = v[k].first_cyc > hi ? v[k].first_cyc : hi;
	}
	if (n_used < 2 || (!n_loose && (lo > hi || hi - lo <= 1000)))
		return;
	f = check_add(c, "unaligned-clocks");
	if (n_loose)
		finding_say(c, f, "%u of %u shader engines have no clock samples", n_loose, n_used);
	else
		finding_say(c, f, "aligned shader engines start %lld cycles apart",
			(long long)(hi - lo));
	fact_int(f, "ses", n_used);
	fact_int(f, "unaligned_ses", n_loose);
	if (lo <= hi)
		fact_int(f, "start_spread_cycles", hi - lo);
}

/* Targets whose tools report half: one pool for both kinds of registers. */
static bool has_halved_vgprs(const struct trace *t)
{
	static const char *const targets[] = {"gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"};

	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		if (str_is(str_of(t->meta.arch), targets[i]))
			return true;
	return false;
}

void rule_vgprs(struct check *c)
{
	const struct trace *t = c->trace;
	struct amd_regs r;
	struct finding *f;
	uint32_t real;

	if (t->meta.launch.vgprs == NO_VALUE || t->meta.launch.vgprs <= 0 || !has_halved_vgprs(t))
		return;
	r = amd_regs_of_trace(t);
	real = amd_regs_allocated(&r, 8);
	if (t->meta.launch.vgprs != (int64_t)real / 2 || real % 2)
		return;
	f = check_add(c, "vgpr-count-halved");
	finding_say(c, f, "stated are %lld VGPRs, the code uses %u: the tool reports half",
		(long long)t->meta.launch.vgprs, real);
	fact_int(f, "stated_vgprs", t->meta.launch.vgprs);
	fact_int(f, "isa_vgprs", real);
	fact_int(f, "arch", amd_regs_round(r.arch, 8));
	fact_int(f, "accum", amd_regs_round(r.accum, 8));
}

void rule_counters(struct check *c)
{
	struct finding *f;
	uint64_t outside = check_notes(c, "pmc-outside-jobs");

	if (c->trace->n_counter_names || c->trace->n_counters || check_is_sampled(c))
		return;
	f = check_add(c, "no-counters");
	finding_say(c, f, "no hardware counters were recorded%s",
		outside ? ": the `pmc` list stands outside `jobs` and was ignored" : "");
	fact_int(f, "counter_names", 0);
}

/* --- capture ---------------------------------------------------------------------------------- */

static void put_ranges(const uint8_t seen[256], struct strbuf *out)
{
	const char *comma = "";

	for (unsigned a = 0, b; a < 256; a = b + 1) {
		for (b = a; seen[a] && b < 255 && seen[b + 1]; b++)
			;
		if (!seen[a])
			continue;
		sb_printf(out, "%s%u", comma, a);
		if (b > a)
			sb_printf(out, "-%u", b);
		comma = ",";
	}
}

/* "SE0: 3-6; SE1: 0,5-7"; events come clock by clock */
static void put_cus(const struct check *c, struct strbuf *out)
{
	const struct trace *t = c->trace;

	for (uint32_t i = 0; i < t->n_occupancy;) {
		clock_idx k = t->occupancy[i].clock;
		uint8_t seen[256] = {0};

		for (; i < t->n_occupancy && t->occupancy[i].clock == k; i++)
			seen[t->occupancy[i].cu & 255] = 1;
		sb_printf(
			out, "%sSE%u: ", out->n ? "; " : "", k < t->n_clocks ? t->clocks[k].id : k);
		put_ranges(seen, out);
	}
}

static void say_missed_cu(struct check *c)
{
	struct finding *f = check_add(c, "missed-cu");
	struct strbuf cus = {0};

	put_cus(c, &cus);
	finding_say(c, f, "the grid missed the target CU %lld: waves ran on CUs %s",
		(long long)check_target_cu(c), check_text(c, &cus));
	fact_int(f, "target_cu", check_target_cu(c));
	fact_int(f, "occupancy_events", c->trace->n_occupancy);
	fact_text(c, f, "cus_with_waves", "%s", check_text(c, &cus));
	sb_free(&cus);
}

static void say_empty(struct check *c, bool has_target_events)
{
	struct finding *f = check_add(c, "empty-shell");

	if (has_target_events)
		finding_say(c, f,
			"waves started on the target CU %lld, but no instruction was recorded",
			(long long)check_target_cu(c));
	else
		finding_say(c, f, "nothing was traced: no wave, no code, no occupancy event");
	fact_int(f, "waves", 0);
	fact_int(f, "code_rows", c->trace->n_code);
	fact_int(f, "occupancy_events", c->trace->n_occupancy);
}

static void say_not_executed(struct check *c)
{
	struct finding *f = check_add(c, "not-executed");

	finding_say(c, f, "%u instructions of code, none was executed in this capture",
		c->gather->n_instructions);
	fact_int(f, "code_rows", c->trace->n_code);
	fact_int(f, "waves", 0);
}

void rule_shell(struct check *c)
{
	const struct trace *t = c->trace;
	bool has_target = false, has_hits = false;

	if (t->n_tracks || t->samples || t->n_stated_series ||
		check_notes(c, "unlisted-wave-file") || check_notes(c, "missing-wave-file"))
		return;
	for (code_idx i = 0; i < t->n_code; i++)
		has_hits |= t->code[i].stated.hit != 0;
	if (has_hits)
		return;
	for (uint32_t i = 0; i < t->n_occupancy; i++)
		has_target |= t->occupancy[i].cu == check_target_cu(c);
	c->is_shell = true;
	if (t->n_code)
		say_not_executed(c);
	else if (t->n_occupancy && !has_target)
		say_missed_cu(c);
	else
		say_empty(c, has_target);
}

void rule_implausible(struct check *c)
{
	uint64_t n = check_notes(c, "implausible-stream");
	struct finding *f;

	if (!n)
		return;
	f = check_add(c, "implausible-stream");
	finding_say(c, f,
		"the tokens of %llu stream%s are invalid for the generation that the header names",
		(unsigned long long)n, plural(n));
	fact_int(f, "streams", (int64_t)n);
	fact_int(f, "gfx_major", c->trace->meta.gfx_major);
}

/* Without code a class is only guessed from the kind of token, and a wait looks like any
 * immediate. */
void rule_code(struct check *c)
{
	uint64_t unknown = c->gather->n_unknown_code, all = unknown;
	struct finding *f;

	for (code_idx i = 0; i < c->trace->n_code; i++)
		all += c->gather->rows[i].hit;
	if (unknown * 2 <= all)
		return;
	f = check_add(c, "no-code");
	finding_say(c, f,
		"%llu of %llu recorded instructions lie outside all known code: their text and what they waited for are unknown",
		(unsigned long long)unknown, (unsigned long long)all);
	fact_int(f, "unknown_records", (int64_t)unknown);
	fact_int(f, "records", (int64_t)all);
	fact_int(f, "code_rows", c->trace->n_code);
}

/* Events of each clock domain, counted once for several rules. */
struct se_counts {
	uint64_t starts, ends, target_starts;
};

static struct se_counts *count_ses(struct check *c)
{
	const struct trace *t = c->trace;
	struct se_counts *n = arena_zalloc(&c->arena, (size_t)t->n_clocks + 1, sizeof(*n));
	int64_t cu = check_target_cu(c);

	c->is_nomem |= !n;
	for (uint32_t i = 0; n && i < t->n_occupancy; i++) {
		const struct occupancy_event *o = &t->occupancy[i];

		if (o->clock >= t->n_clocks)
			continue;
		n[o->clock].starts += o->is_start;
		n[o->clock].ends += !o->is_start;
		n[o->clock].target_starts += o->is_start && o->cu == cu;
	}
	return n;
}

void rule_missed_se(struct check *c)
{
	const struct trace *t = c->trace;
	struct se_counts *n = count_ses(c);
	const uint8_t *seen = check_seen_simds(c);
	struct strbuf list = {0}, bare = {0};
	unsigned n_used = 0, n_missed = 0;
	struct finding *f;

	for (clock_idx k = 0; n && seen && k < t->n_clocks; k++) {
		struct strbuf *to = n[k].target_starts ? &bare : &list;

		if (!n[k].starts && !n[k].ends)
			continue;
		n_used++;
		if (n[k].target_starts && seen[k])
			continue;
		n_missed++;
		sb_printf(to, "%s%u", to->n ? "," : "", t->clocks[k].id);
	}
	if (!n_missed || !t->n_tracks) {
		sb_free(&list);
		sb_free(&bare);
		return;
	}
	f = check_add(c, "missed-se");
	finding_say(c, f, "%u of %u shader engines have instruction detail%s%s%s%s%s%s",
		n_used - n_missed, n_used, list.n ? "; SE " : "",
		list.n ? check_text(c, &list) : "", list.n ? " had no wave on the target CU" : "",
		bare.n ? "; SE " : "", bare.n ? check_text(c, &bare) : "",
		bare.n ? " had waves on the target CU, none with detail" : "");
	fact_int(f, "ses", n_used);
	fact_int(f, "ses_with_detail", n_used - n_missed);
	if (list.n)
		fact_text(c, f, "missed", "%s", check_text(c, &list));
	if (bare.n)
		fact_text(c, f, "without_detail", "%s", check_text(c, &bare));
	fact_int(f, "target_cu", check_target_cu(c));
	sb_free(&list);
	sb_free(&bare);
}

/* --- R3 --- */

struct cuts {
	uint64_t waves, cut_waves;
	uint64_t starts, open; /* open: starts without an end */
	uint64_t breaks, broken_waves;
	track_idx first_broken;
	uint64_t packet_loss, trace_stalls;
	uint64_t short_ses, least_starts; /* shader engines with fewer starts than expected from
					     the grid */
};

static void count_cut_waves(const struct check *c, struct cuts *x)
{
	for (track_idx i = 0; i < c->trace->n_tracks; i++) {
		const struct track_facts *f = &c->gather->tracks[i];

		if (!f->is_read)
			continue;
		x->waves++;
		x->cut_waves += (f->flaws & FLAW_CUT) != 0;
		if (!f->n_breaks)
			continue;
		if (!x->broken_waves++)
			x->first_broken = i;
		x->breaks += f->n_breaks;
	}
}

static int64_t device_ses(const struct trace *t)
{
	if (t->meta.machine.ses != NO_VALUE)
		return t->meta.machine.ses;
	return str_is(str_of(t->meta.arch), "gfx950") ? 32 : NO_VALUE;
}

/* Least number of starts per shader engine implied by the grid; 0 if the launch is unknown. */
static uint64_t least_starts(const struct trace *t)
{
	const struct trace_launch *l = &t->meta.launch;
	int64_t ses = device_ses(t);

	if (ses == NO_VALUE || ses <= 0 || l->workgroups <= 0 || l->waves <= 0)
		return 0;
	return (uint64_t)(l->workgroups / ses) * (uint64_t)(l->waves / l->workgroups);
}

static bool count_cuts(struct check *c, struct cuts *x)
{
	const struct trace *t = c->trace;
	const struct se_counts *n = count_ses(c);

	if (!n)
		return false;
	count_cut_waves(c, x);
	x->least_starts = least_starts(t);
	for (clock_idx k = 0; k < t->n_clocks; k++) {
		x->starts += n[k].starts;
		x->open +=
			n[k].starts > n[k].ends ? n[k].starts - n[k].ends : n[k].ends - n[k].starts;
		if ((n[k].starts || n[k].ends) && n[k].starts < x->least_starts)
			x->short_ses++;
	}
	EACH (const struct dispatch_event, d, t->dispatch_events, t->n_dispatch_events) {
		x->packet_loss += !d->is_dispatch && d->type == 6;
		x->trace_stalls += !d->is_dispatch && d->type == 9;
	}
	/* the decoder of a raw trace counts them too, and gives no events under the 0.1.6 rules */
	if (!x->packet_loss)
		x->packet_loss = check_notes(c, "packet-lost");
	return true;
}

static void say_cuts(struct check *c, struct finding *f, const struct cuts *x)
{
	struct strbuf b = {0};
	const char *sep = "";

	if (x->cut_waves) {
		sb_printf(&b, "%llu of %llu waves end before s_endpgm",
			(unsigned long long)x->cut_waves, (unsigned long long)x->waves);
		sep = "; ";
	}
	if (x->open) {
		sb_printf(&b, "%s%llu of %llu occupancy starts and ends have no partner", sep,
			(unsigned long long)x->open, (unsigned long long)x->starts);
		sep = "; ";
	}
	if (x->breaks) {
		sb_printf(&b, "%s%llu control-flow break%s in %llu wave%s (first: %s)", sep,
			(unsigned long long)x->breaks, plural(x->breaks),
			(unsigned long long)x->broken_waves, plural(x->broken_waves),
			c->trace->tracks[x->first_broken].name);
		sep = "; ";
	}
	if (x->short_ses) {
		sb_printf(&b, "%s%llu shader engine%s with fewer than the %llu starts of the grid",
			sep, (unsigned long long)x->short_ses, plural(x->short_ses),
			(unsigned long long)x->least_starts);
		sep = "; ";
	}
	if (x->packet_loss || x->trace_stalls)
		sb_printf(&b, "%s%llu packet loss%s, %llu thread-trace stall%s reported", sep,
			(unsigned long long)x->packet_loss, x->packet_loss == 1 ? "" : "es",
			(unsigned long long)x->trace_stalls, plural(x->trace_stalls));
	finding_say(c, f, "records were lost: %s", check_text(c, &b));
	sb_free(&b);
}

/* "SE0 64/0": starts and ends of SEs where they differ */
static void put_open_ses(struct check *c, struct finding *f, const struct se_counts *n)
{
	struct strbuf b = {0};

	for (clock_idx k = 0; k < c->trace->n_clocks; k++)
		if (n[k].starts != n[k].ends)
			sb_printf(&b, "%sSE%u %llu/%llu", b.n ? "; " : "", c->trace->clocks[k].id,
				(unsigned long long)n[k].starts, (unsigned long long)n[k].ends);
	if (b.n)
		fact_text(c, f, "starts_and_ends", "%s", b.p);
	sb_free(&b);
}

void rule_truncated(struct check *c)
{
	struct cuts x = {0};
	struct finding *f;
	const struct se_counts *n;
	bool is_bad;

	if (!count_cuts(c, &x))
		return;
	if (!x.cut_waves && !x.open && !x.breaks && !x.short_ses && !x.packet_loss &&
		!x.trace_stalls)
		return;
	is_bad = x.cut_waves * 10 > x.waves || x.open * 10 > x.starts;
	f = check_add_as(c, "truncated", is_bad ? WEIGHT_ERROR : WEIGHT_WARNING,
		is_bad ? VERDICT_UNUSABLE : VERDICT_SUSPECT);
	n = count_ses(c);
	say_cuts(c, f, &x);
	fact_int(f, "cut_waves", (int64_t)x.cut_waves);
	fact_int(f, "waves", (int64_t)x.waves);
	fact_int(f, "starts_without_end", (int64_t)x.open);
	fact_int(f, "starts", (int64_t)x.starts);
	if (n)
		put_open_ses(c, f, n);
	fact_int(f, "control_flow_breaks", (int64_t)x.breaks);
	if (x.short_ses)
		fact_int(f, "short_ses", (int64_t)x.short_ses);
	if (x.packet_loss || x.trace_stalls) {
		fact_int(f, "packet_losses", (int64_t)x.packet_loss);
		fact_int(f, "trace_stalls", (int64_t)x.trace_stalls);
	}
}

/* --- damage --- */

static void say_damage(struct check *c, struct finding *f, uint64_t n_tracks, uint64_t n_files)
{
	struct strbuf b = {0};

	if (n_tracks)
		sb_printf(&b, "%llu of %u waves", (unsigned long long)n_tracks, c->trace->n_tracks);
	if (n_files)
		sb_printf(&b, "%s%llu other file%s", n_tracks ? " and " : "",
			(unsigned long long)n_files, plural(n_files));
	finding_say(c, f, "%s could not be read; totals cover the rest", check_text(c, &b));
	sb_free(&b);
}

void rule_damaged(struct check *c)
{
	const struct trace *t = c->trace;
	uint64_t n_absent = check_notes(c, "missing-wave-file"), n_files = 0;
	uint64_t n_tracks = c->gather->n_failed;
	const struct note *first = NULL;
	struct finding *f;

	/* missing files and links have findings of their own */
	n_absent += c->gather->n_outside;
	n_tracks = n_tracks > n_absent ? n_tracks - n_absent : 0;
	for (uint32_t i = 0; i < t->n_notes; i++)
		if (t->notes[i].kind == NOTE_DAMAGED) {
			n_files += t->notes[i].count ? t->notes[i].count : 1;
			first = first ? first : &t->notes[i];
		}
	if (!n_files && !n_tracks)
		return;
	f = check_add(c, "damaged-file");
	say_damage(c, f, n_tracks, n_files);
	fact_int(f, "unread_waves", (int64_t)n_tracks);
	fact_int(f, "waves", t->n_tracks);
	fact_int(f, "damaged_files", (int64_t)n_files);
	if (first)
		fact_text(c, f, "first", "%s", first->message ? first->message : first->code);
}

void rule_links(struct check *c)
{
	uint32_t n_waves = c->gather ? c->gather->n_outside : 0;
	uint64_t n = check_notes(c, "link-outside") + n_waves;
	struct finding *f;

	if (!n)
		return;
	f = check_add(c, "link-outside");
	finding_say(c, f, "%llu file%s of the capture %s out of its directory and %s not followed",
		(unsigned long long)n, plural(n),
		n == 1 ? "is a link that leads" : "are links that lead", n == 1 ? "was" : "were");
	fact_int(f, "links", (int64_t)n);
	fact_int(f, "waves", n_waves);
}
