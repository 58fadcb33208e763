/* SPDX-License-Identifier: Apache-2.0 */
/* main.cpp: a job in, op streams out. The runner calls it, behind its walls. */
#include <cinttypes>
#include <cstdlib>
#include <unistd.h>

#include "driver/driver.hpp"

namespace incore
{
job the_job;
instance the_run;

namespace
{
std::string read_all(int fd)
{
	std::string text;
	char buffer[4096];
	ssize_t n;

	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		text.append(buffer, static_cast<size_t>(n));
	return text;
}

/* The words of a line, one after the other. */
struct words {
	const char *p;

	std::string next()
	{
		const char *from;

		while (*p == ' ')
			p++;
		from = p;
		while (*p && *p != ' ')
			p++;
		return std::string(from, p);
	}
	uint64_t number()
	{
		return strtoull(next().c_str(), nullptr, 0);
	}
	std::string rest()
	{
		while (*p == ' ')
			p++;
		return p;
	}
};

void read_tensor(words &w, slot &s)
{
	s.rec.dtype = static_cast<uint8_t>(w.number());
	s.rec.flags = static_cast<uint8_t>(w.number());
	s.rec.bytes = w.number();
	s.rec.start_offset = w.number();
	s.fill = static_cast<int>(w.number());
	s.seed = w.number();
	s.value = strtod(w.next().c_str(), nullptr);
	s.data_off = w.number();
	s.data_bytes = w.number();
	s.has_data = s.data_bytes != 0;
	s.rec.ndims = static_cast<uint32_t>(w.number());
	for (uint32_t &v : s.rec.shapes)
		v = static_cast<uint32_t>(w.number());
	for (uint32_t &v : s.rec.strides)
		v = static_cast<uint32_t>(w.number());
	s.name = w.rest();
}

void read_slot(words &w)
{
	uint64_t i = w.number();
	std::string kind = w.next();

	if (i >= OPSTREAM_SLOTS)
		stop("bad-job", "slot %" PRIu64, i);
	slot &s = the_job.slots[i];

	memset(&s.rec, 0, sizeof(s.rec));
	s.is_given = true;
	s.rec.slot = static_cast<uint8_t>(i);
	if (kind == "tensor") {
		read_tensor(w, s);
	} else {
		s.rec.dtype = static_cast<uint8_t>(w.number());
		s.rec.value = w.number();
		s.name = w.rest();
	}
}

void read_line(const std::string &line)
{
	words w = {line.c_str()};
	std::string key = w.next();

	if (key == "arch")
		the_job.arch = static_cast<uint8_t>(w.number());
	else if (key == "core")
		the_job.core = static_cast<uint8_t>(w.number());
	else if (key == "origin")
		the_job.origin = static_cast<uint8_t>(w.number());
	else if (key == "max_ops")
		the_job.max_ops = w.number();
	else if (key == "seconds")
		the_job.seconds = static_cast<unsigned>(w.number());
	else if (key == "kernel")
		the_job.kernel = w.rest();
	else if (key == "sha256")
		the_job.sha256 = w.rest();
	else if (key == "slot")
		read_slot(w);
	else if (key == "share") {
		uint64_t i = w.number(), owner = w.number();

		if (i >= OPSTREAM_SLOTS || owner >= i)
			stop("bad-job", "slot %" PRIu64 " shares the buffer of %" PRIu64, i, owner);
		the_job.slots[i].owner = static_cast<int>(owner);
		the_job.slots[owner].is_shared = the_job.slots[i].is_shared = true;
	} else if (key == "run") {
		instance r;

		r.block_idx = static_cast<uint32_t>(w.number());
		r.block_num = static_cast<uint32_t>(w.number());
		r.lane = static_cast<uint32_t>(w.number());
		r.mixed = static_cast<uint32_t>(w.number());
		the_job.runs.push_back(r);
	}
}

void read_job()
{
	std::string text = read_all(FD_JOB);
	size_t from = 0, to;

	for (; (to = text.find('\n', from)) != std::string::npos; from = to + 1)
		read_line(text.substr(from, to - from));
}
} // namespace
} // namespace incore

extern "C" __attribute__((visibility("default"))) int incore_main()
{
	using namespace incore;
	int64_t *args;

	read_job();
	install_handlers();
	map_slots();
	args = make_args();
	for (const instance &r : the_job.runs) {
		the_run = r;
		set_contexts();
		fill_slots();
		reset_counters();
		values_begin();
		stream_begin();
		kernel_entry(args);
		stream_write();
	}
	return 0;
}
