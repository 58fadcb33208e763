/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acl_stub.cpp: device memory that is host memory with a list. A launch writes what the kernel would
 * find, by offsets and not by the host's own structures, as one JSON line: rows, descriptors, contexts,
 * and the hash of each buffer. A wrong order of calls, a foreign address or a leak ends the program.
 */
#include "acl/acl.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

static std::map<uint64_t, size_t> memory;
static int state; /* 1 initialised, 2 has a device, 3 has a stream, 4 launched, 5 waited for */
static char stream_object;

static void expect(bool ok, const char *what)
{
	if (ok)
		return;
	std::fprintf(stderr, "acl stub: %s\n", what);
	std::exit(98);
}

static uint64_t u64(const void *p, size_t at)
{
	uint64_t v;

	std::memcpy(&v, (const char *)p + at, 8);
	return v;
}

static unsigned u32(const void *p, size_t at)
{
	uint32_t v;

	std::memcpy(&v, (const char *)p + at, 4);
	return v;
}

static const void *need(uint64_t address, size_t n)
{
	auto found = memory.find(address);

	expect(found != memory.end(), "an address that was never allocated");
	expect(found->second == n, "an allocation of another size");
	return (const void *)address;
}

static uint64_t hash(const void *p, size_t n)
{
	uint64_t h = 14695981039346656037ull;

	for (size_t i = 0; i < n; i++)
		h = (h ^ ((const unsigned char *)p)[i]) * 1099511628211ull;
	return h;
}

static void put_tensor(std::FILE *f, uint64_t address)
{
	const void *t = need(address, 128);

	std::fprintf(f, "{\"size\": %llu, \"owner\": %llu, \"start\": %llu, \"version\": %u, \"ndims\": %u, \"dtype\": %u,",
		(unsigned long long)u64(t, 8), (unsigned long long)u64(t, 16), (unsigned long long)u64(t, 24), u32(t, 32),
		u32(t, 36), ((const unsigned char *)t)[40]);
	std::fprintf(f, " \"manual_dep\": %u, \"contiguous\": %u, \"space\": %u, \"extent\": %llu,",
		((const unsigned char *)t)[41], ((const unsigned char *)t)[42], ((const unsigned char *)t)[43],
		(unsigned long long)u64(t, 64));
	for (int k = 0; k < 2; k++) {
		std::fprintf(f, " \"%s\": [", k ? "strides" : "shapes");
		for (int i = 0; i < 5; i++)
			std::fprintf(f, "%s%u", i ? ", " : "", u32(t, (k ? 72 : 44) + 4 * i));
		std::fprintf(f, "],");
	}
	for (int i = 92; i < 128; i++)
		expect(((const char *)t)[i] == 0, "padding of a descriptor that is not zero");
	std::fprintf(f, " \"addr\": %llu, \"hash\": \"%016llx\"}", (unsigned long long)u64(t, 0),
		(unsigned long long)hash(need(u64(t, 0), u64(t, 8)), u64(t, 8)));
}

static void put_row(std::FILE *f, const int64_t *row)
{
	const void *local = need((uint64_t)row[48], 48), *global = need((uint64_t)row[49], 24);
	bool first = true;

	std::fprintf(f, "{\"local\": [%u, %u, %llu, %llu, %llu, %u, %llu], \"global\": [%u, %llu, %llu], \"slots\": {",
		u32(local, 0), u32(local, 4), (unsigned long long)u64(local, 8), (unsigned long long)u64(local, 16),
		(unsigned long long)u64(local, 24), u32(local, 32), (unsigned long long)u64(local, 40), u32(global, 0),
		(unsigned long long)u64(global, 8), (unsigned long long)u64(global, 16));
	for (int i = 0; i < 48; i++) {
		if (!row[i])
			continue;
		std::fprintf(f, "%s\"%d\": ", first ? "" : ", ", i);
		first = false;
		if (memory.count((uint64_t)row[i]))
			put_tensor(f, (uint64_t)row[i]);
		else
			std::fprintf(f, "%llu", (unsigned long long)row[i]);
	}
	std::fprintf(f, "}}");
}

static void put_rows(std::FILE *f, const char *name, const void *rows)
{
	size_t n = memory.at((uint64_t)rows);

	expect(n % 400 == 0, "rows that are not of 50 slots");
	std::fprintf(f, "\"%s\": [", name);
	for (size_t i = 0; i < n / 400; i++) {
		std::fprintf(f, "%s", i ? ", " : "");
		put_row(f, (const int64_t *)rows + 50 * i);
	}
	std::fprintf(f, "]");
}

extern "C" {
void stand_in_launch(uint32_t blocks, void *stream, void *aic_rows, void *aiv_rows)
{
	const char *dir = std::getenv("STAND_IN");
	std::FILE *f;
	char path[4096];

	expect(state == 3 && stream == &stream_object, "a launch without a stream");
	std::snprintf(path, sizeof(path), "%s/rows.json", dir ? dir : ".");
	f = std::fopen(path, "w");
	expect(f != nullptr, "rows.json cannot be written");
	std::fprintf(f, "{\"blocks\": %u, ", blocks);
	put_rows(f, "aic", aic_rows);
	std::fprintf(f, ", ");
	put_rows(f, "aiv", aiv_rows);
	std::fprintf(f, "}\n");
	std::fclose(f);
	state = 4;
}

aclError aclInit(const char *config)
{
	expect(!config && state == 0, "aclInit not first");
	state = 1;
	return std::getenv("STAND_IN_ACL_INIT") ? 500000 : ACL_SUCCESS;
}

aclError aclrtSetDevice(int32_t device)
{
	const char *stated = std::getenv("ACL_DEVICE_ID");

	expect(state == 1 && device == (stated ? std::atoi(stated) : 0), "another device than asked for");
	state = 2;
	return ACL_SUCCESS;
}

aclError aclrtCreateStream(aclrtStream *stream)
{
	expect(state == 2, "a stream without a device");
	state = 3;
	*stream = &stream_object;
	return ACL_SUCCESS;
}

aclError aclrtMalloc(void **p, size_t n, aclrtMemMallocPolicy)
{
	expect(state == 3 && n > 0, "memory before a stream, or none of it");
	*p = std::malloc(n);
	std::memset(*p, 0xa5, n);
	memory[(uint64_t)*p] = n;
	return ACL_SUCCESS;
}

aclError aclrtMemcpy(void *to, size_t room, const void *from, size_t n, aclrtMemcpyKind kind)
{
	need((uint64_t)to, room);
	expect(n <= room && kind == ACL_MEMCPY_HOST_TO_DEVICE, "a copy that does not fit");
	std::memcpy(to, from, n);
	return ACL_SUCCESS;
}

aclError aclrtSynchronizeStream(aclrtStream stream)
{
	expect(state == 4 && stream == &stream_object, "waiting before a launch");
	state = 5;
	return ACL_SUCCESS;
}

aclError aclrtFree(void *p)
{
	expect(state == 5 && memory.erase((uint64_t)p) == 1, "memory freed before its kernel ended, or twice");
	std::free(p);
	return ACL_SUCCESS;
}

aclError aclrtDestroyStream(aclrtStream)
{
	return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t)
{
	return ACL_SUCCESS;
}

aclError aclFinalize()
{
	expect(memory.empty(), "memory that nobody freed");
	return ACL_SUCCESS;
}
}
