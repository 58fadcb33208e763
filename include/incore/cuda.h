/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda.h: warps in time. A CUDA C++ kernel that is compiled with this header records when its warps entered and left the scopes that
 * it names; `incore` reads the file that is written of it (incore-scopes(7)). One header, nothing to link but the CUDA runtime;
 * more than 150 lines because a kernel shall need no other file.
 *
 *	__global__ void kernel(incore_scopes_device scopes, ...)
 *	{
 *		INCORE_WARP(scopes);                     // once, where the kernel begins: all threads of a warp
 *		{
 *			INCORE_SCOPE("load", INCORE_COPY); // until the end of the block
 *			...
 *		}
 *		{
 *			INCORE_WAIT("full");               // the same: time in which the warp waits
 *			...
 *		}
 *		INCORE_INSTANT("released");
 *		INCORE_VALUE("stage", stage);
 *	}
 *
 *	incore_scopes scopes;
 *	const char *wrong = incore_scopes_open(&scopes, 4096, 512); // warps, events a warp
 *	kernel<<<grid, block>>>(scopes.device, ...);
 *	wrong = incore_scopes_write(&scopes, "kernel.scopes", "kernel");
 *	incore_scopes_close(&scopes);
 *
 * Host functions give NULL, or what went wrong in words that live on. A function that is called by the kernel takes
 * `incore_recorder &incore_here`. Lane 0 of a warp records: what it does not execute is not seen. An event is a clock and 16 bytes
 * into device memory. A warp that has more of them than its ring holds keeps the last, and a launch with more warps than there are rings
 * records the first to come; both are counted. Names are literals. With INCORE_SCOPES_OFF all of the device side is nothing.
 */
#ifndef INCORE_CUDA_H
#define INCORE_CUDA_H

#ifndef __CUDACC__
#error "incore/cuda.h is for CUDA C++: compile with nvcc, or with clang -x cuda"
#endif

#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a scope is, for its colour and for the sums. */
enum incore_scope_kind {
	INCORE_WORK = 0,
	INCORE_WAITING = 1, /* the warp waits for others */
	INCORE_COPY = 2,    /* it brings data into shared memory */
	INCORE_MATRIX = 3,  /* it feeds tensor cores */
	INCORE_STORE = 4,   /* it writes results */
	/* of events alone */
	INCORE_SCOPE_END = 5,
	INCORE_AN_INSTANT = 6,
	INCORE_A_VALUE = 7,
};

/* One of these is a warp that was recorded. */
struct incore_warp_record {
	uint32_t sm, slot;	    /* of the hardware; slot modulo 4 is the sub-partition */
	uint32_t block, warp;	    /* number of the block in its grid, of the warp in its block */
	uint64_t begin_clock;	    /* of the SM */
	uint64_t begin_ns;	    /* of the timer that all SMs share, read right after it */
	uint64_t end_clock, end_ns; /* 0: the warp did not come to its end */
	uint32_t n_events;	    /* in all, also those that the ring lost */
	uint32_t reserved[3];
};

/* What a kernel is given, by value. */
struct incore_scopes_device {
	struct incore_warp_record *warps; /* NULL: nothing is recorded */
	uint4 *events;			  /* a ring a warp */
	uint32_t *n_begun;		  /* warps that came so far; then grid and block, 3 each */
	uint32_t n_warps, mask;		  /* rings; events of a ring, less one */
};

#ifdef INCORE_SCOPES_OFF
struct incore_recorder {
	__device__ explicit incore_recorder(const incore_scopes_device &)
	{
	}
};
#define INCORE_SCOPE(...)
#define INCORE_WAIT(name)
#define INCORE_BEGIN(...)
#define INCORE_END()
#define INCORE_INSTANT(name)
#define INCORE_VALUE(name, value)
#else
struct incore_recorder {
	uint4 *ring; /* NULL: not this thread */
	uint32_t n, mask;
	struct incore_warp_record *warp;

	__device__ explicit incore_recorder(const incore_scopes_device &s)
	    : ring(nullptr), n(0), mask(s.mask), warp(nullptr)
	{
		uint32_t thread = threadIdx.x +
				  blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z),
			 i;

		if (!s.warps || thread % 32)
			return;
		i = atomicAdd(s.n_begun, 1u);
		if (i == 0) {
			const uint32_t shape[6] = {gridDim.x, gridDim.y, gridDim.z, blockDim.x,
				blockDim.y, blockDim.z};
			for (int k = 0; k < 6; k++)
				s.n_begun[1 + k] = shape[k];
		}
		if (i >= s.n_warps)
			return;
		ring = s.events + (size_t)i * (mask + 1);
		warp = s.warps + i;
		asm volatile("mov.u32 %0, %%smid;" : "=r"(warp->sm));
		asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp->slot));
		warp->block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
		warp->warp = thread / 32;
		warp->begin_clock = (uint64_t)clock64();
		warp->begin_ns = now_ns();
	}
	__device__ ~incore_recorder()
	{
		if (!ring)
			return;
		warp->n_events = n;
		warp->end_clock = (uint64_t)clock64();
		warp->end_ns = now_ns();
	}
	incore_recorder(const incore_recorder &) = delete;

	static __device__ uint64_t now_ns()
	{
		uint64_t ns;

		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
		return ns;
	}
	/* Clock 44 bits; kind 3; address of the name 49; value 32. */
	__device__ __forceinline__ void put(uint32_t kind, const char *name, uint32_t value)
	{
		if (!ring)
			return;
		uint64_t clock, at = (uint64_t)name;
		asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock)::"memory");
		ring[n & mask] = make_uint4((uint32_t)clock,
			((uint32_t)(clock >> 32) & 0xfffu) | kind << 12 |
				(uint32_t)(at >> 32) << 15,
			(uint32_t)at, value);
		n++;
	}
};

struct incore_scope {
	incore_recorder &to;

	__device__ __forceinline__ incore_scope(
		incore_recorder &r, const char *name, incore_scope_kind kind = INCORE_WORK)
	    : to(r)
	{
		r.put(kind, name, 0);
	}
	__device__ __forceinline__ ~incore_scope()
	{
		to.put(INCORE_SCOPE_END, nullptr, 0);
	}
	incore_scope(const incore_scope &) = delete;
};

#define INCORE_JOIN_(a, b) a##b
#define INCORE_JOIN(a, b) INCORE_JOIN_(a, b)
/* Until the end of the block it stands in: name, and what it is (INCORE_WORK where nothing is said). */
#define INCORE_SCOPE(...)                                                                          \
	incore_scope INCORE_JOIN(incore_scope_, __LINE__)(incore_here, __VA_ARGS__)
#define INCORE_WAIT(name) INCORE_SCOPE(name, INCORE_WAITING)
/* The same where no block of the language fits; ends are of the scope that began last. */
static __device__ __forceinline__ void incore_begin(
	incore_recorder &r, const char *name, incore_scope_kind kind = INCORE_WORK)
{
	r.put(kind, name, 0);
}
#define INCORE_BEGIN(...) incore_begin(incore_here, __VA_ARGS__)
#define INCORE_END() incore_here.put(INCORE_SCOPE_END, nullptr, 0)
#define INCORE_INSTANT(name) incore_here.put(INCORE_AN_INSTANT, name, 0)
#define INCORE_VALUE(name, value) incore_here.put(INCORE_A_VALUE, name, (uint32_t)(value))
#endif

#define INCORE_WARP(scopes) incore_recorder incore_here(scopes)

/* --- the host's side --- */

struct incore_scopes {
	incore_scopes_device device; /* to be given to kernels */
	uint32_t n_begun[7];
};

#define INCORE_NAME_BYTES 64
#define INCORE_MOST_NAMES 1024

/* Names are literals in the memory of the device: read where they are. */
static __global__ void incore_copy_names(const uint64_t *at, char *to, uint32_t n)
{
	for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
		for (uint32_t k = 0; k < INCORE_NAME_BYTES; k++) {
			to[i * INCORE_NAME_BYTES + k] =
				k + 1 < INCORE_NAME_BYTES ? ((const char *)at[i])[k] : 0;
			if (!to[i * INCORE_NAME_BYTES + k])
				break;
		}
}

static inline void incore_scopes_close(incore_scopes *s)
{
	cudaFree(s->device.warps);
	cudaFree(s->device.events);
	cudaFree(s->device.n_begun);
	memset(s, 0, sizeof(*s));
}

/* Forgets what was recorded: before a launch that shall be recorded alone. */
static inline const char *incore_scopes_reset(incore_scopes *s)
{
	cudaError_t err = cudaMemset(s->device.n_begun, 0, sizeof(s->n_begun));

	if (err == cudaSuccess)
		err = cudaMemset(
			s->device.warps, 0, sizeof(incore_warp_record) * s->device.n_warps);
	return err == cudaSuccess ? NULL : cudaGetErrorString(err);
}

/* Room for that many warps, and events of each (made a power of two). */
static inline const char *incore_scopes_open(incore_scopes *s, uint32_t warps, uint32_t events)
{
	uint32_t ring = 16;
	cudaError_t err;
	const char *wrong;

	memset(s, 0, sizeof(*s));
	while (ring < events && ring < 1u << 24)
		ring *= 2;
	s->device.n_warps = warps;
	s->device.mask = ring - 1;
	if ((err = cudaMalloc(&s->device.warps, sizeof(incore_warp_record) * warps)) !=
			cudaSuccess ||
		(err = cudaMalloc(&s->device.events, sizeof(uint4) * ring * warps)) !=
			cudaSuccess ||
		(err = cudaMalloc(&s->device.n_begun, sizeof(s->n_begun))) != cudaSuccess)
		wrong = cudaGetErrorString(err);
	else
		wrong = incore_scopes_reset(s);
	if (wrong)
		incore_scopes_close(s);
	return wrong;
}

struct incore_names { /* addresses as they came, and what stands there */
	uint64_t at[INCORE_MOST_NAMES];
	char text[INCORE_MOST_NAMES][INCORE_NAME_BYTES];
	uint32_t n, hash[4 * INCORE_MOST_NAMES]; /* index + 1 */
};

static inline uint64_t incore_name_at(const uint4 *e)
{
	return (uint64_t)(e->y >> 15) << 32 | e->z;
}
static inline uint32_t incore_kind_of(const uint4 *e)
{
	return e->y >> 12 & 7;
}

/* Index of a name; INCORE_MOST_NAMES where there is no more room. */
static inline uint32_t incore_name_index(incore_names *names, uint64_t at)
{
	uint32_t h = (uint32_t)(at * 0x9e3779b97f4a7c15u >> 52);

	while (names->hash[h] && names->at[names->hash[h] - 1] != at)
		h = (h + 1) % (4 * INCORE_MOST_NAMES);
	if (names->hash[h])
		return names->hash[h] - 1;
	if (names->n == INCORE_MOST_NAMES)
		return INCORE_MOST_NAMES;
	names->at[names->n++] = at;
	names->hash[h] = names->n;
	return names->n - 1;
}

/* Puts the index of its name in place of the address. */
static inline const char *incore_name_events(incore_names *names, uint4 *events, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t index = 0;

		if (incore_kind_of(&events[i]) != INCORE_SCOPE_END)
			index = incore_name_index(names, incore_name_at(&events[i]));
		if (index == INCORE_MOST_NAMES)
			return "more than 1,024 names";
		events[i].y &= 0x7fffu;
		events[i].z = index;
	}
	return NULL;
}

static inline const char *incore_fetch_names(incore_names *names)
{
	uint64_t *at;
	char *text;
	cudaError_t err = cudaMalloc(&at, sizeof(names->at));

	if (err != cudaSuccess)
		return cudaGetErrorString(err);
	if ((err = cudaMalloc(&text, sizeof(names->text))) == cudaSuccess) {
		err = cudaMemcpy(at, names->at, sizeof(names->at), cudaMemcpyHostToDevice);
		if (err == cudaSuccess) {
			incore_copy_names<<<1, 128>>>(at, text, names->n);
			err = cudaMemcpy(
				names->text, text, sizeof(names->text), cudaMemcpyDeviceToHost);
		}
		cudaFree(text);
	}
	cudaFree(at);
	return err == cudaSuccess ? NULL : cudaGetErrorString(err);
}

static inline void incore_put_text(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++)
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if ((unsigned char)*s < 32)
			fprintf(f, "\\u%04x", *s);
		else
			fputc(*s, f);
	fputc('"', f);
}

/* The first line: JSON. */
static inline const char *incore_put_head(
	FILE *f, const incore_scopes *s, const incore_names *names, const char *kernel)
{
	cudaDeviceProp prop;
	int device = 0, khz = 0;
	uint32_t taken = s->n_begun[0] < s->device.n_warps ? s->n_begun[0] : s->device.n_warps;

	if (cudaGetDevice(&device) != cudaSuccess ||
		cudaGetDeviceProperties(&prop, device) != cudaSuccess)
		return "the device does not say what it is";
	if (cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device) != cudaSuccess)
		khz = 0;
	fprintf(f, "{\"incore_scopes\":1,\"kernel\":");
	incore_put_text(f, kernel);
	fprintf(f, ",\"device\":");
	incore_put_text(f, prop.name);
	fprintf(f, ",\"arch\":%d,\"sms\":%d,\"clock_khz\":%d", prop.major * 10 + prop.minor,
		prop.multiProcessorCount, khz);
	fprintf(f, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]", s->n_begun[1], s->n_begun[2],
		s->n_begun[3], s->n_begun[4], s->n_begun[5], s->n_begun[6]);
	fprintf(f, ",\"warps\":%u,\"warps_lost\":%u,\"ring\":%u,\"names\":[", taken,
		s->n_begun[0] - taken, s->device.mask + 1);
	for (uint32_t i = 0; i < names->n; i++) {
		if (i)
			fputc(',', f);
		incore_put_text(f, names->text[i]);
	}
	fprintf(f, "]}\n");
	return NULL;
}

/* Then each warp: its record and the events that are left of it, the oldest first. */
static inline const char *incore_put_warps(FILE *f, const incore_scopes *s,
	const incore_warp_record *warps, const uint4 *events, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t ring = s->device.mask + 1,
			 kept = warps[i].n_events < ring ? warps[i].n_events : ring;
		uint32_t first = warps[i].n_events > ring ? warps[i].n_events % ring : 0;
		const uint4 *at = events + (size_t)i * ring;

		if (fwrite(&warps[i], sizeof(*warps), 1, f) != 1 ||
			fwrite(at + first, sizeof(uint4), kept - first, f) != kept - first ||
			fwrite(at, sizeof(uint4), first, f) != first)
			return "the file takes no more";
	}
	return NULL;
}

static inline const char *incore_put_file(
	FILE *f, incore_scopes *s, const char *kernel, incore_names *names)
{
	uint32_t n = s->n_begun[0] < s->device.n_warps ? s->n_begun[0] : s->device.n_warps,
		 ring = s->device.mask + 1;
	incore_warp_record *warps = (incore_warp_record *)calloc(n + 1, sizeof(*warps));
	uint4 *events = (uint4 *)malloc(((size_t)n * ring + 1) * sizeof(*events));
	const char *wrong = warps && events ? NULL : "no memory";

	if (!wrong &&
		(cudaMemcpy(warps, s->device.warps, n * sizeof(*warps), cudaMemcpyDeviceToHost) !=
				cudaSuccess ||
			cudaMemcpy(events, s->device.events, (size_t)n * ring * sizeof(*events),
				cudaMemcpyDeviceToHost) != cudaSuccess))
		wrong = "what was recorded cannot be copied from the device";
	for (uint32_t i = 0; i < n && !wrong; i++)
		wrong = incore_name_events(names, events + (size_t)i * ring,
			warps[i].n_events < ring ? warps[i].n_events : ring);
	if (!wrong)
		wrong = incore_fetch_names(names);
	if (!wrong)
		wrong = incore_put_head(f, s, names, kernel);
	if (!wrong)
		wrong = incore_put_warps(f, s, warps, events, n);
	free(warps);
	free(events);
	return wrong;
}

/* Waits for the device, writes what was recorded since the last reset, and resets. A file that could not be written whole is removed. */
static inline const char *incore_scopes_write(
	incore_scopes *s, const char *path, const char *kernel)
{
	cudaError_t err = cudaDeviceSynchronize();
	incore_names *names;
	const char *wrong;
	FILE *f;

	if (err == cudaSuccess)
		err = cudaMemcpy(
			s->n_begun, s->device.n_begun, sizeof(s->n_begun), cudaMemcpyDeviceToHost);
	if (err != cudaSuccess)
		return cudaGetErrorString(err);
	if (!(f = fopen(path, "wb")))
		return "the file cannot be created";
	names = (incore_names *)calloc(1, sizeof(*names));
	wrong = names ? incore_put_file(f, s, kernel, names) : "no memory";
	free(names);
	if (fclose(f) && !wrong)
		wrong = "the file takes no more";
	if (wrong)
		remove(path);
	return wrong ? wrong : incore_scopes_reset(s);
}

#endif
