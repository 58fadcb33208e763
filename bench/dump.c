/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What does it cost to record? Against a memcpy of the same bytes, and for the collector against a
 * loop that writes the same bytes to the same disk; then ten million records in the stated memory.
 *
 * usage: dump DIR [RECORDS]    DIR: a directory on the disk to measure
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "incore/dump.h"

#define ROUNDS 24
#define ARENA ((size_t)256 << 20)
#define BURST ((size_t)48 << 20) /* less than a quarter of the arena: the collector sleeps */
#define WRITE_BYTES ((size_t)1 << 30)
#define WRITE_TENSOR ((size_t)1 << 20)
#define SCALARS 8000

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(int rc, const char *what)
{
	if (rc == 0)
		return;
	fprintf(stderr, "dump: %s: %s\n", what, strerror(rc));
	exit(6);
}

static void remove_dump(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *ent;

	while (d && (ent = readdir(d)) != NULL)
		unlinkat(dirfd(d), ent->d_name, 0);
	if (d)
		closedir(d);
	rmdir(dir);
}

/* The round that others on the machine disturbed least. */
static double best(const double *v, unsigned n)
{
	double most = v[0];

	for (unsigned i = 1; i < n; i++)
		most = v[i] > most ? v[i] : most;
	return most;
}

static double least(const double *v, unsigned n)
{
	double low = v[0];

	for (unsigned i = 1; i < n; i++)
		low = v[i] < low ? v[i] : low;
	return low;
}

/* One recording thread, and a destination of the same size for memcpy. */
struct side {
	struct incore_dump_writer *w;
	uint8_t *source, *to;
	size_t at; /* in `to` */
	size_t tensor;
	double seconds;
	pthread_barrier_t *start;
	bool is_copy;
};

static void burst(struct side *s)
{
	uint64_t shape = s->tensor;
	struct incore_dump_tensor t = {
		.dtype = INCORE_DUMP_UINT8, .rank = 1, .data = s->source, .shape = &shape};
	double start = now();

	for (size_t done = 0; done < BURST; done += s->tensor) {
		if (s->is_copy) {
			memcpy(s->to + s->at, s->source + done, s->tensor);
			s->at = (s->at + s->tensor) % ARENA;
		} else {
			t.data = s->source + done;
			t.slot.task_id = done;
			must(incore_dump_put_tensor(s->w, &t), "put");
		}
	}
	s->seconds = now() - start;
}

static void *burst_thread(void *arg)
{
	struct side *s = arg;

	pthread_barrier_wait(s->start);
	burst(s);
	return NULL;
}

/* Bytes a second of n threads at once. */
static double burst_of(struct side *sides, unsigned n, bool is_copy)
{
	pthread_t threads[2];
	pthread_barrier_t start;
	double seconds = 0;

	pthread_barrier_init(&start, NULL, n);
	for (unsigned i = 0; i < n; i++) {
		sides[i].start = &start;
		sides[i].is_copy = is_copy;
		must(pthread_create(&threads[i], NULL, burst_thread, &sides[i]), "thread");
	}
	for (unsigned i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		seconds = sides[i].seconds > seconds ? sides[i].seconds : seconds;
	}
	pthread_barrier_destroy(&start);
	return (double)BURST * n / seconds;
}

static void side_init(struct side *s, struct incore_dump *d)
{
	must(incore_dump_attach(d, &s->w), "attach");
	s->source = malloc(BURST);
	s->to = malloc(ARENA);
	if (!s->source || !s->to)
		exit(6);
	memset(s->source, 1, BURST);
	memset(s->to, 2, ARENA);
	s->at = 0;
}

static struct incore_dump *open_dump(const char *dir)
{
	struct incore_dump_options o;
	struct incore_dump *d;

	remove_dump(dir);
	incore_dump_options_init(&o);
	o.arena_bytes = ARENA;
	o.ring_bytes = (size_t)4 << 20;
	must(incore_dump_open(&d, dir, &o), dir);
	return d;
}

static void measure_copies(const char *dir)
{
	static const size_t sizes[] = {65536, 262144, 1048576};
	struct incore_dump *d = open_dump(dir);
	struct side sides[2];

	for (unsigned i = 0; i < 2; i++)
		side_init(&sides[i], d);
	for (unsigned k = 0; k < 3; k++) {
		double copy[2][ROUNDS], put[2][ROUNDS], c[2], p[2];

		sides[0].tensor = sides[1].tensor = sizes[k];
		for (unsigned r = 0; r < ROUNDS; r++)
			for (unsigned n = 1; n <= 2; n++) {
				copy[n - 1][r] = burst_of(sides, n, true);
				put[n - 1][r] = burst_of(sides, n, false);
				must(incore_dump_flush_all(d), "flush");
			}
		for (unsigned n = 0; n < 2; n++) {
			c[n] = best(copy[n], ROUNDS);
			p[n] = best(put[n], ROUNDS);
		}
		printf("tensors of %4zu KiB: memcpy %5.2f GB/s, recording %5.2f GB/s = %3.0f %% "
		       "(2 threads: %5.2f, %5.2f GB/s = %3.0f %%); 2 threads are %.2f times one "
		       "(memcpy %.2f)\n",
			sizes[k] / 1024, c[0] / 1e9, p[0] / 1e9, 100 * p[0] / c[0], c[1] / 1e9,
			p[1] / 1e9, 100 * p[1] / c[1], p[1] / p[0], c[1] / c[0]);
	}
	must(incore_dump_close(d), "close");
	for (unsigned i = 0; i < 2; i++) {
		free(sides[i].source);
		free(sides[i].to);
	}
	remove_dump(dir);
}

static void measure_scalars(const char *dir)
{
	struct incore_dump *d = open_dump(dir);
	struct incore_dump_writer *w;
	double ns[ROUNDS];

	must(incore_dump_attach(d, &w), "attach");
	for (unsigned r = 0; r < ROUNDS; r++) {
		struct incore_dump_scalar s = {.dtype = INCORE_DUMP_UINT64};
		double start = now();

		for (uint32_t i = 0; i < SCALARS; i++) {
			s.slot.task_id = i;
			s.slot.index = i & 7;
			s.raw = i;
			must(incore_dump_put_scalar(w, &s), "put");
		}
		ns[r] = (now() - start) * 1e9 / SCALARS;
		must(incore_dump_flush(w), "flush");
	}
	must(incore_dump_close(d), "close");
	remove_dump(dir);
	printf("scalars: %.0f ns each\n", least(ns, ROUNDS));
}

/* WRITE_BYTES in pieces of WRITE_TENSOR, as fast as the disk (and the page cache) takes them. */
static double write_loop(const char *dir, const uint8_t *p)
{
	char path[4096];
	double start;
	int fd;

	snprintf(path, sizeof(path), "%s.loop", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	start = now();
	for (size_t done = 0; done < WRITE_BYTES; done += WRITE_TENSOR)
		if (write(fd, p + done % BURST, WRITE_TENSOR) != (ssize_t)WRITE_TENSOR)
			must(EIO, path);
	start = now() - start;
	close(fd);
	unlink(path);
	return (double)WRITE_BYTES / start;
}

static double collect(const char *dir, const uint8_t *p)
{
	struct incore_dump *d = open_dump(dir);
	struct incore_dump_writer *w;
	uint64_t shape = WRITE_TENSOR;
	struct incore_dump_tensor t = {.dtype = INCORE_DUMP_UINT8, .rank = 1, .shape = &shape};
	double start;

	must(incore_dump_attach(d, &w), "attach");
	start = now();
	for (size_t done = 0; done < WRITE_BYTES; done += WRITE_TENSOR) {
		t.data = p + done % BURST;
		must(incore_dump_put_tensor(w, &t), "put");
	}
	must(incore_dump_flush(w), "flush");
	start = now() - start;
	must(incore_dump_close(d), "close");
	remove_dump(dir);
	return (double)WRITE_BYTES / start;
}

static void measure_collector(const char *dir)
{
	uint8_t *p = malloc(BURST);
	double loop[5], ours[5];

	if (!p)
		exit(6);
	memset(p, 3, BURST);
	for (unsigned i = 0; i < 5; i++) {
		loop[i] = write_loop(dir, p);
		ours[i] = collect(dir, p);
	}
	printf("collector: %.2f GB/s to the file, a write loop %.2f GB/s = %.0f %%\n",
		best(ours, 5) / 1e9, best(loop, 5) / 1e9, 100 * best(ours, 5) / best(loop, 5));
	free(p);
}

/* Memory of our own, in KiB: pages of mapped files do not count. */
static long anonymous_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static atomic_bool is_over;
static long peak_kib;

static void *watch(void *arg)
{
	(void)arg;
	while (!atomic_load(&is_over)) {
		long kib = anonymous_kib();

		peak_kib = kib > peak_kib ? kib : peak_kib;
		usleep(2000);
	}
	return NULL;
}

/* Tasks of one tensor of 64 bytes and four scalars. */
static void measure_memory(const char *dir, uint64_t records)
{
	struct incore_dump_options o;
	struct incore_dump *d;
	struct incore_dump_writer *w;
	uint64_t shape = 8, data[8] = {0};
	long before = anonymous_kib(), budget;
	double start = now(), recorded;
	pthread_t thread;

	remove_dump(dir);
	incore_dump_options_init(&o);
	budget = (long)((o.ring_bytes + o.arena_bytes + o.sort_bytes) >> 10) + 3 * 1024;
	must(pthread_create(&thread, NULL, watch, NULL), "thread");
	must(incore_dump_open(&d, dir, &o), dir);
	must(incore_dump_attach(d, &w), "attach");
	for (uint64_t i = 0; i < records / 5; i++) {
		struct incore_dump_task about = {.task_id = i,
			.tensor_count = 1,
			.scalar_count = 4,
			.block_num = 1,
			.func_count = 1,
			.kernel = "kernel"};
		struct incore_dump_tensor t = {.slot = {.task_id = i},
			.dtype = INCORE_DUMP_UINT64,
			.rank = 1,
			.data = data,
			.shape = &shape};
		struct incore_dump_scalar s = {.slot = {.task_id = i}, .dtype = INCORE_DUMP_UINT64};

		must(incore_dump_put_task(w, &about), "put");
		must(incore_dump_put_tensor(w, &t), "put");
		for (uint32_t k = 1; k < 5; k++) {
			s.slot.index = k;
			s.raw = i * k;
			must(incore_dump_put_scalar(w, &s), "put");
		}
	}
	must(incore_dump_flush(w), "flush");
	recorded = now();
	must(incore_dump_close(d), "close");
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
	printf("%.1f million records: recorded in %.1f s, closed in %.1f s, peak memory %.1f MiB "
	       "of "
	       "the %.1f MiB stated: %s\n",
		(double)records / 1e6, recorded - start, now() - recorded,
		(double)(peak_kib - before) / 1024, (double)budget / 1024,
		peak_kib - before <= budget ? "within" : "BEYOND");
	remove_dump(dir);
}

int main(int argc, char **argv)
{
	char dir[4000];

	if (argc < 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(dir, sizeof(dir), "%s/bench_dump", argv[1]);
	measure_copies(dir);
	measure_scalars(dir);
	measure_collector(dir);
	measure_memory(dir, argc > 2 ? strtoull(argv[2], NULL, 10) : 10000000);
	return 0;
}
