/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What does it cost to record? In bursts that the arena holds, against a memcpy of the same bytes;
 * for long, through arenas far smaller than what is recorded, against a memcpy and a write of the
 * same bytes to the same disk, and against the write alone; then ten million records in the stated
 * memory. What is compared is run in turns; figures are medians, ratios are medians of the turns'.
 *
 * usage: dump DIR [RECORDS [PART]]    DIR: a directory on the disk to measure; PART: burst,
 * sustained, scalars or memory alone
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

#define MOST_ROUNDS 32
#define BURST_ROUNDS 25
#define BURST_ARENA ((size_t)256 << 20)
#define BURST ((size_t)48 << 20) /* the arena holds it: the collector is not needed */
#define LONG_ROUNDS 9
#define LONG_BYTES ((size_t)256 << 20) /* of each thread; 16 times its arena */
#define SOURCE BURST
#define SCALARS 8000
#define LONG_SCALARS 2000000
#define MOST_THREADS 2

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

/* One figure, round by round. */
struct figure {
	double v[MOST_ROUNDS];
	unsigned n;
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(const struct figure *f)
{
	struct figure s = *f;

	qsort(s.v, s.n, sizeof(s.v[0]), compare);
	return s.n % 2 ? s.v[s.n / 2] : (s.v[s.n / 2 - 1] + s.v[s.n / 2]) / 2;
}

/* Median of a / b, both of one round: what disturbed the machine disturbed both. */
static double ratio(const struct figure *a, const struct figure *b)
{
	struct figure r = {.n = a->n};

	for (unsigned i = 0; i < a->n; i++)
		r.v[i] = a->v[i] / b->v[i];
	return median(&r);
}

static void add(struct figure *f, double v)
{
	f->v[f->n++] = v;
}

enum way { WAY_COPY, WAY_RECORD, WAY_WRITE, WAY_COPY_WRITE };

/* One thread, what it reads from, and a destination like an arena for memcpy. */
struct side {
	struct incore_dump_writer *w;
	uint8_t *source, *to;
	size_t at, to_bytes; /* in `to` */
	size_t tensor, bytes;
	int fd;
	double seconds;
	pthread_barrier_t *start;
	enum way way;
};

static void put(struct side *s, size_t done)
{
	uint64_t shape = s->tensor;
	struct incore_dump_tensor t = {.dtype = INCORE_DUMP_UINT8,
		.rank = 1,
		.data = s->source + done % SOURCE,
		.shape = &shape};

	t.slot.task_id = done;
	must(incore_dump_put_tensor(s->w, &t), "put");
}

static void *side_main(void *arg)
{
	struct side *s = arg;
	double start;

	pthread_barrier_wait(s->start);
	start = now();
	for (size_t done = 0; done < s->bytes; done += s->tensor) {
		const uint8_t *p = s->source + done % SOURCE;

		if (s->way == WAY_RECORD) {
			put(s, done);
			continue;
		}
		if (s->way != WAY_WRITE) {
			memcpy(s->to + s->at, p, s->tensor);
			p = s->to + s->at;
			s->at = (s->at + s->tensor) % s->to_bytes;
		}
		if (s->way != WAY_COPY && write(s->fd, p, s->tensor) != (ssize_t)s->tensor)
			must(EIO, "write");
	}
	s->seconds = now() - start;
	return NULL;
}

/* Seconds until the last of n threads is through. */
static double run_sides(struct side *sides, unsigned n, enum way way)
{
	pthread_t threads[MOST_THREADS];
	pthread_barrier_t start;
	double seconds = 0;

	pthread_barrier_init(&start, NULL, n);
	for (unsigned i = 0; i < n; i++) {
		sides[i].start = &start;
		sides[i].way = way;
		must(pthread_create(&threads[i], NULL, side_main, &sides[i]), "thread");
	}
	for (unsigned i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		seconds = sides[i].seconds > seconds ? sides[i].seconds : seconds;
	}
	pthread_barrier_destroy(&start);
	return seconds;
}

static void side_init(struct side *s, size_t to_bytes)
{
	*s = (struct side){.source = malloc(SOURCE), .to = malloc(to_bytes), .to_bytes = to_bytes};
	if (!s->source || !s->to)
		exit(6);
	memset(s->source, 1, SOURCE);
	memset(s->to, 2, to_bytes);
}

static void side_deinit(struct side *s)
{
	free(s->source);
	free(s->to);
}

/* arena_bytes 0: the defaults. */
static struct incore_dump *open_dump(const char *dir, size_t arena_bytes, size_t ring_bytes)
{
	struct incore_dump_options o;
	struct incore_dump *d;

	remove_dump(dir);
	incore_dump_options_init(&o);
	if (arena_bytes) {
		o.arena_bytes = arena_bytes;
		o.ring_bytes = ring_bytes;
	}
	must(incore_dump_open(&d, dir, &o), dir);
	return d;
}

static void measure_bursts(const char *dir)
{
	static const size_t sizes[] = {65536, 262144, 1048576};
	struct incore_dump *d = open_dump(dir, BURST_ARENA, (size_t)4 << 20);
	struct side sides[MOST_THREADS];

	for (unsigned i = 0; i < MOST_THREADS; i++) {
		side_init(&sides[i], BURST_ARENA);
		must(incore_dump_attach(d, &sides[i].w), "attach");
		sides[i].bytes = BURST;
	}
	for (unsigned k = 0; k < 3; k++) {
		struct figure copy[2] = {0}, record[2] = {0};

		for (unsigned i = 0; i < MOST_THREADS; i++)
			sides[i].tensor = sizes[k];
		for (unsigned r = 0; r < BURST_ROUNDS; r++)
			for (unsigned n = 1; n <= 2; n++) {
				double gb = (double)BURST * n * 1e-9;

				add(&copy[n - 1], gb / run_sides(sides, n, WAY_COPY));
				add(&record[n - 1], gb / run_sides(sides, n, WAY_RECORD));
				must(incore_dump_flush_all(d), "flush");
			}
		printf("burst, tensors of %4zu KiB: memcpy %5.2f GB/s, recording %5.2f GB/s = "
		       "%3.0f %% (2 threads: %5.2f, %5.2f GB/s = %3.0f %%); 2 threads are %.2f "
		       "times one (memcpy %.2f)\n",
			sizes[k] / 1024, median(&copy[0]), median(&record[0]),
			100 * ratio(&record[0], &copy[0]), median(&copy[1]), median(&record[1]),
			100 * ratio(&record[1], &copy[1]), ratio(&record[1], &record[0]),
			ratio(&copy[1], &copy[0]));
	}
	must(incore_dump_close(d), "close");
	for (unsigned i = 0; i < MOST_THREADS; i++)
		side_deinit(&sides[i]);
	remove_dump(dir);
}

/* The same bytes to a file of each thread's own; open and unlink are not measured. */
static double to_files(const char *dir, struct side *sides, unsigned n, enum way way)
{
	char path[4096];
	double seconds;

	for (unsigned i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s.loop%u", dir, i);
		sides[i].fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (sides[i].fd < 0)
			must(errno, path);
		unlink(path);
	}
	seconds = run_sides(sides, n, way);
	for (unsigned i = 0; i < n; i++)
		close(sides[i].fd);
	return seconds;
}

/* What n threads would give, written by one, as the collector is one. */
static double write_alone(const char *dir, struct side *s, unsigned n)
{
	double seconds;

	s->bytes *= n;
	seconds = to_files(dir, s, 1, WAY_WRITE);
	s->bytes /= n;
	return seconds;
}

/* Seconds of a dump, to the end of the flush. */
static double record_long(const char *dir, struct side *sides, unsigned n)
{
	struct incore_dump *d = open_dump(dir, 0, 0);
	double start;

	for (unsigned i = 0; i < n; i++)
		must(incore_dump_attach(d, &sides[i].w), "attach");
	start = now();
	run_sides(sides, n, WAY_RECORD);
	must(incore_dump_flush_all(d), "flush");
	start = now() - start;
	must(incore_dump_close(d), "close");
	remove_dump(dir);
	return start;
}

static void measure_long(const char *dir)
{
	static const size_t sizes[] = {65536, 1048576};
	struct side sides[MOST_THREADS];

	for (unsigned i = 0; i < MOST_THREADS; i++) {
		side_init(&sides[i], (size_t)16 << 20);
		sides[i].bytes = LONG_BYTES;
	}
	for (unsigned k = 0; k < 2; k++)
		for (unsigned n = 1; n <= 2; n++) {
			struct figure loop = {0}, both = {0}, ours = {0};
			double gb = (double)LONG_BYTES * n * 1e-9;

			for (unsigned i = 0; i < MOST_THREADS; i++)
				sides[i].tensor = sizes[k];
			for (unsigned r = 0; r < LONG_ROUNDS; r++) {
				add(&loop, gb / write_alone(dir, sides, n));
				add(&ours, gb / record_long(dir, sides, n));
				add(&both, gb / to_files(dir, sides, n, WAY_COPY_WRITE));
			}
			printf("sustained, %u thread%s, tensors of %4zu KiB: %5.2f GB/s to the "
			       "file; memcpy and write, by each thread, %5.2f GB/s = %3.0f %%; "
			       "write "
			       "alone, by one, %5.2f GB/s = %3.0f %%\n",
				n, n > 1 ? "s" : " ", sizes[k] / 1024, median(&ours), median(&both),
				100 * ratio(&ours, &both), median(&loop),
				100 * ratio(&ours, &loop));
		}
	for (unsigned i = 0; i < MOST_THREADS; i++)
		side_deinit(&sides[i]);
}

static double put_scalars(struct incore_dump_writer *w, uint32_t n)
{
	struct incore_dump_scalar s = {.dtype = INCORE_DUMP_UINT64};
	double start = now();

	for (uint32_t i = 0; i < n; i++) {
		s.slot.task_id = i;
		s.slot.index = i & 7;
		s.raw = i;
		must(incore_dump_put_scalar(w, &s), "put");
	}
	return (now() - start) * 1e9 / n;
}

static void measure_scalars(const char *dir)
{
	struct incore_dump *d = open_dump(dir, BURST_ARENA, (size_t)4 << 20);
	struct figure burst = {0}, sustained = {0};
	struct incore_dump_writer *w;

	must(incore_dump_attach(d, &w), "attach");
	for (unsigned r = 0; r < BURST_ROUNDS; r++) {
		add(&burst, put_scalars(w, SCALARS));
		must(incore_dump_flush(w), "flush");
	}
	must(incore_dump_close(d), "close");
	d = open_dump(dir, 0, 0);
	must(incore_dump_attach(d, &w), "attach");
	for (unsigned r = 0; r < LONG_ROUNDS; r++)
		add(&sustained, put_scalars(w, LONG_SCALARS / LONG_ROUNDS));
	must(incore_dump_close(d), "close");
	remove_dump(dir);
	printf("scalars: %.0f ns each in a burst, %.0f ns sustained\n", median(&burst),
		median(&sustained));
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
	const char *part = argc > 3 ? argv[3] : "";
	char dir[4000];

	if (argc < 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(dir, sizeof(dir), "%s/bench_dump", argv[1]);
	if (!*part || strcmp(part, "burst") == 0)
		measure_bursts(dir);
	if (!*part || strcmp(part, "sustained") == 0)
		measure_long(dir);
	if (!*part || strcmp(part, "scalars") == 0)
		measure_scalars(dir);
	if (!*part || strcmp(part, "memory") == 0)
		measure_memory(dir, argc > 2 ? strtoull(argv[2], NULL, 10) : 10000000);
	return 0;
}
