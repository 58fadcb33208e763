/* SPDX-License-Identifier: Apache-2.0 */
/* stream.cpp: the op stream of one core instance, while it grows and as bytes. */
#include <cstdarg>
#include <cstdio>
#include <unistd.h>
#include <unordered_map>

#include "driver/driver.hpp"

namespace incore
{
namespace
{
struct site_key {
	const char *file;
	int line;
	bool operator==(const site_key &o) const
	{
		return file == o.file && line == o.line;
	}
};
struct site_hash {
	size_t operator()(const site_key &k) const
	{
		return reinterpret_cast<uintptr_t>(k.file) * 31 + static_cast<size_t>(k.line);
	}
};

struct stream {
	std::vector<op_site> sites;
	std::vector<op_form> forms;
	std::vector<op_opnd> opnds;
	std::vector<op_exec> ops;
	std::vector<uint64_t> words;
	std::string strings;
	std::vector<uint32_t> table; /* hash -> form + 1; a power of two */
	std::unordered_map<std::string, uint32_t> string_index;
	std::unordered_map<const char *, uint32_t> literal_index;
	std::unordered_map<site_key, uint32_t, site_hash> site_index;
} g;

char last_text[200];
const char *last_name = "";
site last_site;

uint32_t add_string(const std::string &s)
{
	if (s.empty())
		return 0;
	auto [it, is_new] = g.string_index.try_emplace(s, static_cast<uint32_t>(g.strings.size()));
	if (is_new)
		g.strings.append(s.c_str(), s.size() + 1);
	return it->second;
}

/* Names of ops and files are literals: their address is enough. */
uint32_t add_literal(const char *s)
{
	auto it = g.literal_index.find(s);

	if (it != g.literal_index.end())
		return it->second;
	return g.literal_index[s] = add_string(s);
}

uint32_t add_site(site s)
{
	auto [it, is_new] =
		g.site_index.try_emplace({s.file, s.line}, static_cast<uint32_t>(g.sites.size()));
	if (is_new)
		g.sites.push_back({add_literal(s.file), static_cast<uint32_t>(s.line), 0, 0});
	return it->second;
}

uint64_t mix(uint64_t h, const void *p, size_t n)
{
	const char *c = static_cast<const char *>(p);
	uint64_t w;

	for (size_t i = 0; i + 8 <= n; i += 8) {
		memcpy(&w, c + i, 8);
		h = (h ^ w) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	return h;
}

bool is_form(uint32_t i, const op_form &f, const op_record &op)
{
	op_form have = g.forms[i];
	uint32_t first = have.first_opnd;

	have.first_opnd = 0;
	return memcmp(&have, &f, sizeof(f)) == 0 &&
	       (op.n == 0 || memcmp(&g.opnds[first], op.opnd, op.n * sizeof(op.opnd[0])) == 0);
}

void grow_table()
{
	std::vector<uint32_t> old(g.table.empty() ? 1024 : g.table.size() * 2);

	g.table.swap(old);
	for (uint32_t i = 0; i < g.forms.size(); i++) {
		op_form f = g.forms[i];
		uint64_t h;

		f.first_opnd = 0;
		h = mix(0, &f, sizeof(f));
		h = mix(h, g.opnds.data() + g.forms[i].first_opnd, f.n_opnds * sizeof(op_opnd));
		while (g.table[h & (g.table.size() - 1)])
			h++;
		g.table[h & (g.table.size() - 1)] = i + 1;
	}
}

uint32_t add_form(const op_record &op)
{
	op_form f = op.form;
	uint64_t h;

	f.name = add_literal(op.name);
	f.n_opnds = static_cast<uint8_t>(op.n);
	f.first_opnd = 0;
	if (g.forms.size() * 2 >= g.table.size())
		grow_table();
	h = mix(mix(0, &f, sizeof(f)), op.opnd, op.n * sizeof(op.opnd[0]));
	for (;; h++) {
		uint32_t &at = g.table[h & (g.table.size() - 1)];

		if (at == 0) {
			f.first_opnd = static_cast<uint32_t>(g.opnds.size());
			g.opnds.insert(g.opnds.end(), op.opnd, op.opnd + op.n);
			g.forms.push_back(f);
			at = static_cast<uint32_t>(g.forms.size());
			return at - 1;
		}
		if (is_form(at - 1, f, op))
			return at - 1;
	}
}

void write_all(const void *p, size_t n)
{
	const char *c = static_cast<const char *>(p);

	while (n) {
		ssize_t done = write(FD_STREAM, c, n);

		if (done <= 0)
			stop("write-failed", "cannot write the op stream");
		c += done;
		n -= static_cast<size_t>(done);
	}
}

template <class T> void write_table(const std::vector<T> &v)
{
	write_all(v.data(), v.size() * sizeof(T));
}

std::vector<op_slot> slot_records(opstream_head &h)
{
	std::vector<op_slot> out;

	for (unsigned i = 0; i < OPSTREAM_SLOTS; i++) {
		slot &s = the_job.slots[i];

		if (!s.is_given)
			continue;
		s.rec.name = add_string(s.name);
		s.rec.alloc = s.owner < 0 ? i : static_cast<unsigned>(s.owner);
		if (was_read(i))
			s.rec.flags |= SLOT_READ;
		if (!(s.rec.flags & SLOT_SIZE_KNOWN) && s.touched > s.rec.bytes)
			s.rec.bytes = s.touched;
		if (s.has_data)
			h.payload_slots |= uint64_t(1) << i;
		if ((s.rec.flags & SLOT_TENSOR) && !(s.rec.flags & (SLOT_PAYLOAD | SLOT_OUTPUT)))
			h.missing_slots |= uint64_t(1) << i;
		out.push_back(s.rec);
	}
	return out;
}
} // namespace

op_record::op_record(op_kind kind, op_pipe pipe, const char *op_name, site s)
    : name(op_name), where(s)
{
	memset(&form, 0, sizeof(form));
	form.kind = kind;
	form.pipe = pipe;
	form.atomic = form.round = form.sat = form.mask = OPSTREAM_ABSENT;
	form.split = form.exhausted = form.phase = form.mode = OPSTREAM_ABSENT;
}

op_opnd &op_record::add(op_what what, op_role role, uint64_t w)
{
	if (n == OPSTREAM_MAX_OPNDS)
		stop("too-many", "%s at %s has more than %d operands", name, place(where).c_str(),
			OPSTREAM_MAX_OPNDS);
	op_opnd &o = opnd[n];

	memset(&o, 0, sizeof(o));
	o.what = what;
	o.role = role;
	word[n++] = w;
	return o;
}

std::string place(site s)
{
	const char *slash = strrchr(s.file, '/');

	return std::string(slash ? slash + 1 : s.file) + ":" + std::to_string(s.line);
}

/* Called from signal handlers, too: no allocation. */
const char *last_op()
{
	const char *slash = strrchr(last_site.file, '/');

	if (!*last_name)
		return "before its first op";
	snprintf(last_text, sizeof(last_text), "after %s at %s:%d", last_name,
		slash ? slash + 1 : last_site.file, last_site.line);
	return last_text;
}

void stop(const char *code, const char *fmt, ...)
{
	char text[1200];
	va_list ap;
	int n = snprintf(text, sizeof(text), "%s\n", code);

	va_start(ap, fmt);
	n += vsnprintf(text + n, sizeof(text) - static_cast<size_t>(n), fmt, ap);
	va_end(ap);
	if (the_job.runs.size() > 1 && n < static_cast<int>(sizeof(text)))
		n += snprintf(text + n, sizeof(text) - static_cast<size_t>(n), " (block %u, %s)",
			the_run.block_idx,
			the_job.core == CORE_AIC ? "aic"
			: the_run.lane		 ? "aiv1"
						 : "aiv0");
	n = n < static_cast<int>(sizeof(text)) ? n : static_cast<int>(sizeof(text)) - 1;
	if (write(FD_REPORT, text, static_cast<size_t>(n)) < 0)
		_exit(EXIT_STOPPED + 1);
	_exit(EXIT_STOPPED);
}

void stream_begin()
{
	g = stream();
	g.strings.assign(1, '\0');
	last_name = "";
}

void stream_push(const op_record &op)
{
	op_exec x;

	if (op.form.kind != OPK_GMREAD && op.form.kind != OPK_GMWRITE) { /* they have no site */
		last_name = op.name;
		last_site = op.where;
	}
	if (g.ops.size() >= the_job.max_ops)
		stop("too-many-ops", "more than %llu ops, %s",
			static_cast<unsigned long long>(the_job.max_ops), last_op());
	x.form = add_form(op);
	x.site = add_site(op.where);
	x.first_word = static_cast<uint32_t>(g.words.size());
	x.aux = op.aux;
	g.words.insert(g.words.end(), op.word, op.word + op.n);
	g.ops.push_back(x);
}

void stream_write()
{
	opstream_head h;
	std::vector<op_slot> slots;

	memset(&h, 0, sizeof(h));
	memcpy(h.magic, OPSTREAM_MAGIC, 8);
	h.version = OPSTREAM_VERSION;
	h.head_bytes = sizeof(h);
	h.arch = the_job.arch;
	h.core = the_job.core;
	h.lane = static_cast<uint8_t>(the_run.lane);
	h.args_origin = the_job.origin;
	h.flags = OPSTREAM_COMPLETE | (the_run.mixed ? OPSTREAM_MIXED : 0);
	h.block_idx = the_run.block_idx;
	h.block_num = the_run.block_num;
	h.kernel = add_string(the_job.kernel);
	h.front_end = add_string("recorder");
	h.source_sha256 = add_string(the_job.sha256);
	slots = slot_records(h);
	g.strings.resize((g.strings.size() + 7) / 8 * 8, '\0');
	h.n_slots = static_cast<uint32_t>(slots.size());
	h.n_sites = static_cast<uint32_t>(g.sites.size());
	h.n_forms = static_cast<uint32_t>(g.forms.size());
	h.n_opnds = static_cast<uint32_t>(g.opnds.size());
	h.n_ops = g.ops.size();
	h.n_words = g.words.size();
	h.string_bytes = g.strings.size();
	h.total_bytes = sizeof(h) + slots.size() * sizeof(op_slot) +
			g.sites.size() * sizeof(op_site) + g.forms.size() * sizeof(op_form) +
			g.opnds.size() * sizeof(op_opnd) + g.ops.size() * sizeof(op_exec) +
			g.words.size() * 8 + g.strings.size();
	write_all(&h, sizeof(h));
	write_table(slots);
	write_table(g.sites);
	write_table(g.forms);
	write_table(g.opnds);
	write_table(g.ops);
	write_table(g.words);
	write_all(g.strings.data(), g.strings.size());
}
} // namespace incore
