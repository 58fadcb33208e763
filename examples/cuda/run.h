/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h: what the kernels of this folder need around them. A file with RUN(name) { ... } is a program of its own; with -DRUN_ALL several
 * files make one program, which runs those that are named (all without a name), each once, or with `-t N` N times and says the times.
 */
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static inline void check(cudaError_t err, const char *what)
{
	if (err == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(err));
	exit(1);
}

/* Device memory with a value in every element; it is never freed: the program ends soon. */
template <typename T, typename F> static T *device_array(size_t n, F value)
{
	std::vector<T> host(n);
	T *dev;

	for (size_t i = 0; i < n; i++)
		host[i] = value(i);
	check(cudaMalloc(&dev, n * sizeof(T)), "cudaMalloc");
	check(cudaMemcpy(dev, host.data(), n * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
	return dev;
}
template <typename T> static T *device_zeros(size_t n)
{
	T *dev;

	check(cudaMalloc(&dev, n * sizeof(T)), "cudaMalloc");
	check(cudaMemset(dev, 0, n * sizeof(T)), "cudaMemset");
	return dev;
}

/* One kernel: its first call prepares the data and launches, later ones launch alone. */
struct runnable {
	const char *name;
	void (*launch)();
	runnable *next;
};
extern runnable *all_runs;
struct run_entry {
	runnable self;
	run_entry(const char *name, void (*launch)()) : self{name, launch, nullptr}
	{
		runnable **at = &all_runs; /* by name: the linker's order says nothing */
		while (*at && strcmp((*at)->name, name) < 0)
			at = &(*at)->next;
		self.next = *at;
		*at = &self;
	}
};
int run_main(int argc, char **argv);

#define RUN(name)                                                                                  \
	static void launch_##name();                                                               \
	static run_entry entry_##name(#name, launch_##name);                                       \
	static void launch_##name()

#if !defined(RUN_ALL) || defined(RUN_MAIN)
runnable *all_runs;

static float time_one(const runnable *r, cudaEvent_t a, cudaEvent_t b)
{
	float ms;

	check(cudaEventRecord(a), "cudaEventRecord");
	r->launch();
	check(cudaEventRecord(b), "cudaEventRecord");
	check(cudaEventSynchronize(b), r->name);
	check(cudaEventElapsedTime(&ms, a, b), "cudaEventElapsedTime");
	return ms * 1000;
}

int main(int argc, char **argv)
{
	int times = 0, n_named = 0;
	std::vector<const runnable *> chosen;
	cudaEvent_t a, b;

	if (argc > 2 && !strcmp(argv[1], "-t"))
		times = atoi(argv[2]), argc -= 2, argv += 2;
	for (const runnable *r = all_runs; r; r = r->next)
		for (int i = 1; i < argc || (argc == 1 && i == 1); i++)
			if (argc == 1 || !strcmp(argv[i], r->name))
				chosen.push_back(r), n_named++;
	if (argc > 1 && n_named != argc - 1) {
		fprintf(stderr, "of %d names %d are known\n", argc - 1, n_named);
		return 2;
	}
	check(cudaEventCreate(&a), "cudaEventCreate");
	check(cudaEventCreate(&b), "cudaEventCreate");
	for (const runnable *r : chosen) {
		r->launch();
		check(cudaDeviceSynchronize(), r->name);
	}
	/* Round after round over all of them, so that a clock that falls falls for all. */
	std::vector<std::vector<float>> us(chosen.size());
	for (int k = 0; k < times; k++)
		for (size_t j = 0; j < chosen.size(); j++) {
			size_t i = k % 2 ? chosen.size() - 1 - j : j;
			us[i].push_back(time_one(chosen[i], a, b));
		}
	for (size_t i = 0; times && i < chosen.size(); i++) {
		std::sort(us[i].begin(), us[i].end());
		printf("%s %d %.3f %.3f %.3f\n", chosen[i]->name, times, us[i][times / 2],
			us[i][times / 10], us[i][times * 9 / 10]);
	}
	return 0;
}
#endif
