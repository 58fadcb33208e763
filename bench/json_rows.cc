// SPDX-License-Identifier: Apache-2.0
// json_rows.cc: how fast is our JSON reader on wave files, against simdjson's on-demand API doing
// the same job on the same bytes? CPU time, both in one run, passes interleaved, best of each.
// Usage: json_rows FILE... [--least RATIO]; exit 1 when ours/simdjson is below RATIO.
#include <simdjson.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

extern "C" {
#include "base/file.h"
#include "codec/json_reader.h"
}

namespace
{

// What both sides take out of a wave file: every number of both tables.
struct sums {
	int64_t col[5], state[2], begin, end;
	uint64_t rows, states;

	bool operator==(const sums &o) const
	{
		return std::memcmp(this, &o, sizeof(o)) == 0;
	}
};

constexpr size_t batch = 256;

void our_rows(json_reader *r, sums *s)
{
	static int64_t out[batch * 5];
	size_t n;

	json_enter_array(r);
	do {
		n = json_read_i64_rows(r, 5, batch, out);
		for (size_t i = 0; i < n; i++)
			for (size_t c = 0; c < 5; c++)
				s->col[c] += out[i * 5 + c];
		s->rows += n;
	} while (n == batch);
}

void our_states(json_reader *r, sums *s)
{
	static int64_t out[batch * 2];
	size_t n;

	json_enter_array(r);
	do {
		n = json_read_i64_rows(r, 2, batch, out);
		for (size_t i = 0; i < n; i++)
			for (size_t c = 0; c < 2; c++)
				s->state[c] += out[i * 2 + c];
		s->states += n;
	} while (n == batch);
}

bool ours(const simdjson::padded_string &file, sums *s)
{
	incore_error e = {};
	json_reader r;
	str key;
	bool ok;

	json_init(&r, file.data(), file.size(), "wave", 0);
	for (json_enter_object(&r); json_next_key(&r, &key);) {
		if (!str_is(key, "wave")) {
			json_skip(&r);
			continue;
		}
		for (json_enter_object(&r); json_next_key(&r, &key);) {
			if (str_is(key, "instructions"))
				our_rows(&r, s);
			else if (str_is(key, "timeline"))
				our_states(&r, s);
			else if (str_is(key, "begin"))
				json_get_i64(&r, &s->begin);
			else if (str_is(key, "end"))
				json_get_i64(&r, &s->end);
			else
				json_skip(&r);
		}
	}
	ok = json_finish(&r, &e);
	if (!ok)
		std::fprintf(stderr, "our reader: %s\n", e.message ? e.message : e.code);
	incore_error_clear(&e);
	json_deinit(&r);
	return ok;
}

bool theirs(simdjson::ondemand::parser &parser, const simdjson::padded_string &file, sums *s)
{
	try {
		auto doc = parser.iterate(file);

		for (auto field : doc["wave"].get_object()) {
			std::string_view key = field.unescaped_key();

			if (key == "instructions") {
				for (auto row : field.value().get_array()) {
					size_t c = 0;

					for (auto v : row.get_array()) {
						int64_t x = v.get_int64();

						if (c < 5)
							s->col[c++] += x;
					}
					s->rows++;
				}
			} else if (key == "timeline") {
				for (auto row : field.value().get_array()) {
					size_t c = 0;

					for (auto v : row.get_array()) {
						int64_t x = v.get_int64();

						if (c < 2)
							s->state[c++] += x;
					}
					s->states++;
				}
			} else if (key == "begin") {
				s->begin = field.value().get_int64();
			} else if (key == "end") {
				s->end = field.value().get_int64();
			}
		}
	} catch (simdjson::simdjson_error &err) {
		std::fprintf(stderr, "simdjson: %s\n", err.what());
		return false;
	}
	return true;
}

double cpu_seconds()
{
	timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

bool load_all(const std::vector<std::string> &paths, std::vector<simdjson::padded_string> *files)
{
	for (const auto &path : paths) {
		incore_error e = {};
		file_data f = {};

		if (!file_load(&f, path.c_str(), &e)) {
			std::fprintf(stderr, "%s: %s\n", path.c_str(), e.message);
			incore_error_clear(&e);
			return false;
		}
		files->emplace_back(reinterpret_cast<const char *>(f.data), f.size);
		file_unload(&f);
	}
	return true;
}

} // namespace

int main(int argc, char **argv)
{
	std::vector<std::string> paths;
	std::vector<simdjson::padded_string> files;
	double least = 0, best_ours = 1e9, best_theirs = 1e9;
	simdjson::ondemand::parser parser;
	size_t bytes = 0, rounds;

	for (int i = 1; i < argc; i++) {
		if (std::strcmp(argv[i], "--least") == 0 && i + 1 < argc)
			least = std::atof(argv[++i]);
		else
			paths.push_back(argv[i]);
	}
	if (paths.empty() || !load_all(paths, &files)) {
		std::fprintf(stderr, "usage: %s FILE... [--least RATIO]\n", argv[0]);
		return 2;
	}
	for (const auto &f : files)
		bytes += f.size();
	rounds = 1 + (size_t(64) << 20) / bytes; /* about 64 MB a pass */
	for (int pass = 0; pass < 15; pass++) {
		sums a = {}, b = {};
		double t0 = cpu_seconds(), t1, t2;

		for (size_t k = 0; k < rounds; k++)
			for (const auto &f : files)
				if (!ours(f, &a))
					return 1;
		t1 = cpu_seconds();
		for (size_t k = 0; k < rounds; k++)
			for (const auto &f : files)
				if (!theirs(parser, f, &b))
					return 1;
		t2 = cpu_seconds();
		if (!(a == b)) {
			std::fprintf(stderr, "the two readers disagree\n");
			return 1;
		}
		best_ours = std::min(best_ours, t1 - t0);
		best_theirs = std::min(best_theirs, t2 - t1);
	}
	double mb = double(bytes) * double(rounds) * 1e-6, ratio = best_theirs / best_ours;
	std::printf("%zu files, %.1f MB a pass, simdjson %d.%d.%d (%s)\n", files.size(), mb,
		simdjson::SIMDJSON_VERSION_MAJOR, simdjson::SIMDJSON_VERSION_MINOR,
		simdjson::SIMDJSON_VERSION_REVISION,
		simdjson::get_active_implementation()->name().c_str());
	std::printf("incore    %8.0f MB/s\n", mb / best_ours);
	std::printf("simdjson  %8.0f MB/s\n", mb / best_theirs);
	std::printf("ratio     %8.2f  (incore over simdjson, CPU time)\n", ratio);
	return ratio < least ? 1 : 0;
}
