/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local.c: runs a sweep on this machine. Parts: devices; the driver.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/vec.h"
#include "run/job.h"
#include "run/lease.h"
#include "sweep/devices.h"
#include "sweep/sweep.h"

/* --- devices ---------------------------------------------------------------------------------- */

/*
 * Finds devices through kfd's topology, nvidia-smi, npu-smi, or as the plan names them.
 */

#define NODES "/sys/class/kfd/kfd/topology/nodes"
#define ASK_MS 30000

struct sweep_devices_finder {
	struct arena *arena;
	VEC(struct sweep_device) v;
	uint64_t n_amd;
};

static bool sweep_devices_add(
	struct sweep_devices_finder *f, const char *kind, struct str number, struct incore_error *e)
{
	struct sweep_device d = {.id = arena_printf(f->arena, "%s:%.*s", kind, STR_ARG(number)),
		.number = arena_strndup(f->arena, number.p, number.n)};

	return (d.id && d.number && VEC_PUSH(&f->v, d)) || err_nomem(e);
}

/* --- detection --- */

/* A node with a gpu_id that is not 0 is a GPU; ROCr counts them in the order of their nodes. */
static bool is_gpu(const char *node)
{
	char path[256], text[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), NODES "/%s/gpu_id", node);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	return strtoull(text, NULL, 10) != 0;
}

static bool sweep_devices_count_node(void *ctx, const char *name, struct incore_error *e)
{
	uint64_t *n = ctx;

	(void)e;
	*n += name[0] >= '0' && name[0] <= '9';
	return true;
}

static bool find_amd(struct sweep_devices_finder *f, struct incore_error *e)
{
	uint64_t n_nodes = 0;
	bool ok = true;

	if (!file_is_dir(NODES))
		return true;
	dir_each(NODES, sweep_devices_count_node, &n_nodes, NULL);
	for (uint64_t i = 0; ok && i < n_nodes; i++) { /* by number: 10 comes after 9 */
		char text[24];

		snprintf(text, sizeof(text), "%llu", (unsigned long long)i);
		if (!is_gpu(text))
			continue;
		snprintf(text, sizeof(text), "%llu", (unsigned long long)f->n_amd++);
		ok = sweep_devices_add(f, "amd", str_of(text), e);
	}
	return ok;
}

/* The output of a tool; empty if it is missing or fails. */
static bool sweep_devices_ask(
	const char *const *argv, struct strbuf *out, bool *does_work, struct incore_error *e)
{
	struct process_result r;

	if (!process_run(
		    &(struct process_spec){.argv = argv, .output = out, .limit_ms = ASK_MS}, &r, e))
		return false;
	*does_work = r.end == PROCESS_EXITED && r.code == 0;
	return true;
}

/* Adds a device for each line with that key: "KEY : 3" or, with key "", only the number. */
static bool find_by_tool(struct sweep_devices_finder *f, const char *kind, const char *const *argv,
	const char *key, struct incore_error *e)
{
	struct strbuf text = {0};
	struct str rest, line;
	bool does_work = false, ok = sweep_devices_ask(argv, &text, &does_work, e);

	for (rest = (struct str){text.p, text.n}; ok && does_work && str_cut(&rest, "\n", &line);) {
		uint64_t n;

		line = str_trim(line);
		if (!str_starts(line, key))
			continue;
		line = str_trim(str_sub(line, strlen(key), line.n));
		if (str_starts(line, ":"))
			line = str_trim(str_sub(line, 1, line.n));
		if (str_to_u64(line, &n))
			ok = sweep_devices_add(f, kind, line, e);
	}
	sb_free(&text);
	return ok;
}

bool sweep_devices_find(const struct sweep_plan *p, struct arena *a, struct sweep_devices *out,
	struct incore_error *e)
{
	static const char *const nvidia[] = {
		"nvidia-smi", "--query-gpu=index", "--format=csv,noheader", NULL};
	static const char *const npu[] = {"npu-smi", "info", "-l", NULL};
	struct sweep_devices_finder f = {.arena = a};
	bool ok = true;

	for (size_t i = 0; ok && i < p->pool.devices.n; i++) {
		const char *id = p->pool.devices.v[i].text, *colon = strchr(id, ':');

		ok = VEC_PUSH(&f.v, (struct sweep_device){id, colon + 1}) || err_nomem(e);
	}
	if (!p->pool.devices.n)
		ok = find_amd(&f, e) && find_by_tool(&f, "nvidia", nvidia, "", e) &&
		     find_by_tool(&f, "ascend", npu, "NPU ID", e);
	*out = (struct sweep_devices){
		f.v.n ? arena_memdup(a, f.v.v, f.v.n * sizeof(*f.v.v)) : NULL, f.v.n};
	VEC_FREE(&f.v);
	return ok && (!out->n || out->v || err_nomem(e));
}

/* --- visibility --- */

static bool is_kind(const struct sweep_device *d, const char *kind)
{
	return strncmp(d->id, kind, strlen(kind)) == 0 && d->id[strlen(kind)] == ':';
}

/* Environment variables that make only these n devices of one kind visible; ends with NULL. NULL:
 * no memory. */
static const char *const *sweep_visibility(
	const struct sweep_device *const *d, size_t n, struct arena *a)
{
	struct strbuf ids = {0}, numbers = {0}, from_0 = {0};
	const char **v = arena_zalloc(a, 4, sizeof(*v));
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		sb_printf(&ids, "%s%s", i ? "," : "", d[i]->id);
		sb_printf(&numbers, "%s%s", i ? "," : "", d[i]->number);
		sb_printf(&from_0, "%s%zu", i ? "," : "", i);
	}
	if (!v || ids.failed || numbers.failed || from_0.failed) {
		v = NULL;
	} else if (n) {
		v[k++] = arena_printf(a, "INCORE_DEVICES=%s", ids.p);
		if (is_kind(d[0], "amd")) { /* HIP counts the devices that ROCr shows it */
			v[k++] = arena_printf(a, "ROCR_VISIBLE_DEVICES=%s", numbers.p);
			v[k++] = arena_printf(a, "HIP_VISIBLE_DEVICES=%s", from_0.p);
		} else if (is_kind(d[0],
				   "nvidia")) { /* CUDA's own order differs from nvidia-smi's */
			v[k++] = arena_printf(a, "CUDA_VISIBLE_DEVICES=%s", numbers.p);
			v[k++] = "CUDA_DEVICE_ORDER=PCI_BUS_ID";
		} else if (is_kind(d[0], "ascend")) {
			v[k++] = arena_printf(a, "ASCEND_RT_VISIBLE_DEVICES=%s", numbers.p);
		}
		for (size_t i = 0; i < k; i++)
			v = v && v[i] ? v : NULL;
	}
	sb_free(&ids);
	sb_free(&numbers);
	sb_free(&from_0);
	return v;
}

/* --- does it work? --- */

static bool check_by(const char *const *argv, uint64_t limit_ms, struct arena *a, const char **why,
	struct incore_error *e)
{
	struct job j = {.argv = argv, .limit_ms = limit_ms};
	struct job_result r;
	struct strbuf how = {0};
	struct str said;

	if (!job_run(&j, &r, e))
		return false;
	if (job_exit_status(&r.process) != 0) {
		said = job_last_line(&r);
		job_describe(&j, &r.process, &how);
		*why = arena_printf(a, "%s: %s%s%.*s", argv[0], how.p ? how.p : "",
			said.n ? ": " : "", STR_ARG(said));
	}
	job_result_deinit(&r);
	sb_free(&how);
	return true;
}

/* Checks that the n-th GPU of kfd still exists. */
static void check_amd(const struct sweep_device *d, struct arena *a, const char **why)
{
	struct sweep_devices_finder f = {.arena = a};

	if (!file_is_dir(NODES) || !find_amd(&f, NULL) || f.n_amd <= strtoull(d->number, NULL, 10))
		*why = "it is no longer among the GPUs of " NODES;
	VEC_FREE(&f.v);
}

/* *why: what is wrong with the device, in the arena; NULL: no known problem. May fail:
 * resources. */
static bool sweep_device_check(const struct sweep_plan *p, const struct sweep_device *d,
	struct arena *a, const char **why, struct incore_error *e)
{
	const char **argv;

	*why = NULL;
	if (p->pool.has_no_health)
		return true;
	if (!p->pool.health.n) {
		const char *const nvidia[] = {"nvidia-smi", "-i", d->number, "--query-gpu=uuid",
			"--format=csv,noheader", NULL};
		const char *const npu[] = {
			"npu-smi", "info", "-t", "health", "-i", d->number, NULL};

		if (is_kind(d, "amd"))
			check_amd(d, a, why);
		if (is_kind(d, "nvidia"))
			return check_by(nvidia, p->pool.health_ms, a, why, e);
		if (is_kind(d, "ascend"))
			return check_by(npu, p->pool.health_ms, a, why, e);
		return true;
	}
	argv = arena_zalloc(a, p->pool.health.n + 1, sizeof(*argv));
	for (size_t i = 0; argv && i < p->pool.health.n; i++) {
		argv[i] = sweep_device_text(p->pool.health.v[i].text, d->number, a);
		if (!argv[i])
			return err_nomem(e);
	}
	return argv ? check_by(argv, p->pool.health_ms, a, why, e) : err_nomem(e);
}

/* --- the driver ------------------------------------------------------------------------------- */

/*
 * Tasks on the devices of this host. Each running task has a thread: it starts the shim under a
 * guard that holds the leases of its devices, and checks the devices afterwards. Everything else,
 * in particular the journal, belongs to the caller's thread.
 */

#define TICK_MS 200
#define GRACE_MS 15000 /* for a shim: more than it grants its program */
#define STRIKES 3u     /* failures in a row on a device while others succeed */
#define MAX_DEVICES PROCESS_MAX_HELD

struct device_state {
	bool is_sick, is_used, is_checked;
	uint32_t strikes;
	uint64_t n_ok, others_ok; /* others_ok: successes of the others at its first strike */
};

struct slot { /* a running task */
	struct local *l;
	pthread_t thread;
	uint32_t task;
	size_t n_devices, devices[MAX_DEVICES];
	struct lease leases[MAX_DEVICES];
	struct arena arena;
	const char *const *argv, *const *env;
	const char *where;
	bool was_run;
	struct process_result process;
	const char *said;	       /* the last line of the shim; NULL: no memory */
	const char *sick[MAX_DEVICES]; /* reason; NULL: not sick */
	struct incore_error error;
	struct slot *next;
};

struct local {
	struct sweep *s;
	struct device_state *devices;
	size_t n_healthy;
	uint64_t n_slots, memory_bytes, n_running, n_ok;
	VEC(uint32_t) queue; /* first in, first out; starts at `head` */
	size_t head;
	const char *leases, *program, *cancel;
	atomic_bool is_ending;
	pthread_mutex_t lock; /* protects done */
	pthread_cond_t changed;
	struct slot *done;
};

/* --- one thread per task --- */

static bool is_ending(void *ctx)
{
	return atomic_load(&((struct local *)ctx)->is_ending);
}

static bool check_devices(struct slot *x)
{
	const struct sweep *s = x->l->s;
	bool is_well = true;

	for (size_t i = 0; i < x->n_devices; i++) {
		if (!sweep_device_check(&s->plan, &s->devices.v[x->devices[i]], &x->arena,
			    &x->sick[i], &x->error))
			return false;
		is_well &= !x->sick[i];
	}
	return is_well;
}

static bool must_check(const struct slot *x)
{
	for (size_t i = 0; i < x->n_devices; i++)
		if (!x->l->devices[x->devices[i]].is_checked)
			return true;
	return false;
}

static void *sweep_local_work(void *ctx)
{
	struct slot *x = ctx;
	struct local *l = x->l;
	int held[MAX_DEVICES];
	struct job j = {.argv = x->argv,
		.env = x->env,
		.grace_ms = GRACE_MS,
		.held = held,
		.n_held = (unsigned)x->n_devices,
		.is_cancelled = is_ending,
		.ctx = l};
	struct job_result r;

	for (size_t i = 0; i < x->n_devices; i++)
		held[i] = x->leases[i].fd;
	if (!must_check(x) || check_devices(x)) {
		x->was_run = job_run(&j, &r, &x->error);
		if (x->was_run) {
			struct str last = job_last_line(&r);

			x->process = r.process;
			x->said = arena_strndup(&x->arena, last.p, last.n);
			job_result_deinit(&r);
			check_devices(x);
		}
	}
	pthread_mutex_lock(&l->lock);
	x->next = l->done;
	l->done = x;
	pthread_cond_signal(&l->changed);
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* --- starting --- */

static void drop(struct slot *x)
{
	for (size_t i = 0; i < x->n_devices; i++) {
		lease_end(&x->leases[i]);
		x->l->devices[x->devices[i]].is_used = false;
	}
	incore_error_clear(&x->error);
	arena_deinit(&x->arena);
	mem_free(x);
}

static bool is_same_kind(const struct sweep_device *a, const struct sweep_device *b)
{
	size_t n = strcspn(a->id, ":");

	return strncmp(a->id, b->id, n + 1) == 0;
}

/* Leases free devices of one kind; that of the last attempt only if there is no other. */
static bool sweep_local_take_devices(struct slot *x, struct incore_error *e)
{
	struct sweep *s = x->l->s;
	const struct sweep_task *t = &s->tasks[x->task];
	size_t want = s->plan.needs.devices;

	for (size_t round = 0; round < 2 && x->n_devices < want; round++)
		for (size_t i = 0; i < s->devices.n && x->n_devices < want; i++) {
			struct device_state *d = &x->l->devices[i];
			const char *id = s->devices.v[i].id;

			if (d->is_sick || d->is_used ||
				(!round && t->where && strstr(t->where, id)) ||
				(x->n_devices && !is_same_kind(&s->devices.v[x->devices[0]],
							 &s->devices.v[i])))
				continue;
			if (!lease_take(&x->leases[x->n_devices], x->l->leases, id, e))
				return false;
			if (!x->leases[x->n_devices].fd)
				continue;
			d->is_used = true;
			x->devices[x->n_devices++] = i;
		}
	return true;
}

static bool sweep_local_prepare(struct slot *x, struct incore_error *e)
{
	struct sweep *s = x->l->s;
	const struct sweep_device *d[MAX_DEVICES];
	const char **argv = arena_zalloc(&x->arena, 10, sizeof(*argv));
	struct strbuf where = {0};

	for (size_t i = 0; i < x->n_devices; i++) {
		d[i] = &s->devices.v[x->devices[i]];
		sb_printf(&where, "%s%s", i ? "," : "", d[i]->id);
	}
	x->where = where.failed ? NULL : arena_strdup(&x->arena, where.p ? where.p : "");
	sb_free(&where);
	x->env = sweep_visibility(d, x->n_devices, &x->arena);
	if (!argv || !x->where || !x->env)
		return err_nomem(e);
	argv[0] = x->l->program;
	argv[1] = "sweep";
	argv[2] = "cell";
	argv[3] = "--base";
	argv[4] = s->base;
	argv[5] = "--task";
	argv[6] = arena_printf(&x->arena, "%u", x->task);
	argv[7] = arena_printf(&x->arena, "--attempt=%u", s->tasks[x->task].attempts + 1);
	argv[8] = s->dir;
	x->argv = argv;
	return (argv[6] && argv[7]) || err_nomem(e);
}

static bool sweep_local_has_room(const struct local *l)
{
	const struct sweep_plan *p = &l->s->plan;

	if (l->n_running && (p->needs.is_exclusive || l->n_running >= l->n_slots))
		return false;
	return !p->needs.memory_bytes ||
	       (l->n_running + 1) <= l->memory_bytes / p->needs.memory_bytes;
}

/* Starts the next task of the queue; *is_started false: no device is free for it. */
static bool start_next(struct local *l, bool *is_started, struct incore_error *e)
{
	struct sweep *s = l->s;
	struct slot *x = mem_zalloc(1, sizeof(*x));
	bool ok;

	*is_started = false;
	if (!x)
		return err_nomem(e);
	x->l = l;
	x->task = l->queue.v[l->head];
	arena_init(&x->arena);
	ok = sweep_local_take_devices(x, e);
	if (!ok || x->n_devices < s->plan.needs.devices) {
		drop(x);
		return ok;
	}
	ok = sweep_local_prepare(x, e) && sweep_note_start(s, x->task, x->where, e);
	if (ok && pthread_create(&x->thread, NULL, sweep_local_work, x) != 0)
		ok = err_set(e, INCORE_FAILED, "no-thread", "cannot start a thread");
	if (!ok) {
		drop(x);
		return false;
	}
	l->head++;
	l->n_running++;
	*is_started = true;
	return true;
}

/* --- ending --- */

static bool sweep_local_leave(
	struct local *l, size_t device, const char *why, struct incore_error *e)
{
	if (l->devices[device].is_sick)
		return true;
	l->devices[device].is_sick = true;
	l->n_healthy--;
	return sweep_note_sick(l->s, l->s->devices.v[device].id, why, e);
}

/* A device on which everything fails while others work is sick, whatever its check says. */
static bool count_strikes(struct local *l, const struct slot *x, struct incore_error *e)
{
	const char *outcome = l->s->tasks[x->task].outcome;
	bool is_ok = strcmp(outcome, "ok") == 0, ok = true;

	l->n_ok += is_ok;
	for (size_t i = 0; ok && i < x->n_devices; i++) {
		struct device_state *d = &l->devices[x->devices[i]];

		d->is_checked = true;
		d->n_ok += is_ok;
		if (is_ok || strcmp(outcome, "cancelled") == 0) {
			d->strikes = 0;
			continue;
		}
		if (d->strikes++ == 0)
			d->others_ok = l->n_ok - d->n_ok;
		if (d->strikes >= STRIKES && l->n_ok - d->n_ok > d->others_ok)
			ok = sweep_local_leave(l, x->devices[i],
				"three tasks in a row failed on it while other devices finished theirs",
				e);
	}
	return ok;
}

static bool reap(struct local *l, struct slot *x, struct incore_error *e)
{
	struct sweep *s = l->s;
	struct sweep_result lost = {.outcome = "cut", .how = "", .status = 1};
	struct strbuf how = {0};
	const char *sick = NULL;
	bool ok = true;

	pthread_join(x->thread, NULL);
	for (size_t i = 0; ok && i < x->n_devices; i++)
		if (x->sick[i]) {
			sick = x->sick[i];
			ok = sweep_local_leave(l, x->devices[i], sick, e);
		}
	if (!x->was_run) {
		lost.outcome = "machine";
		err_format(&x->error, &how);
		lost.how = sick ? "not run" : how.p ? how.p : "out of memory";
	} else {
		sb_puts(&how, "its shim: ");
		job_describe(&(struct job){.argv = x->argv}, &x->process, &how);
		if (x->said && *x->said)
			sb_printf(&how, ": %s", x->said);
		lost.how = how.p ? how.p : "";
		if (x->process.end == PROCESS_CANCELLED)
			lost.outcome = "cancelled";
	}
	ok = ok && sweep_settle(s, x->task, &lost, sick, e) && count_strikes(l, x, e);
	if (ok && s->tasks[x->task].state == SWEEP_WAITING)
		ok = VEC_PUSH(&l->queue, x->task) || err_nomem(e);
	l->n_running--;
	sb_free(&how);
	drop(x);
	return ok;
}

/* Waits for tasks to end, at most one tick. */
static bool reap_all(struct local *l, struct incore_error *e)
{
	struct timespec until;
	struct slot *x, *next;
	bool ok = true;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += TICK_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_mutex_lock(&l->lock);
	if (!l->done)
		pthread_cond_timedwait(&l->changed, &l->lock, &until);
	x = l->done;
	l->done = NULL;
	pthread_mutex_unlock(&l->lock);
	for (; x; x = next) {
		next = x->next;
		ok = reap(l, x, ok ? e : NULL) && ok;
	}
	if (l->s->q->on_event)
		l->s->q->on_event(l->s->q->ctx, l->s, NULL);
	return ok;
}

/* --- main loop --- */

static bool is_asked_to_end(struct local *l)
{
	const struct sweep_request *q = l->s->q;

	if ((q->is_cancelled && q->is_cancelled(q->ctx)) || access(l->cancel, F_OK) == 0)
		atomic_store(&l->is_ending, true);
	return atomic_load(&l->is_ending);
}

static bool drive(struct local *l, struct incore_error *e)
{
	const struct sweep_plan *p = &l->s->plan;
	struct incore_error later = {0};
	bool ok = true;

	while (l->n_running || (ok && l->head < l->queue.n && !is_asked_to_end(l))) {
		bool is_started = ok && !is_asked_to_end(l);

		if (ok && l->n_healthy < p->needs.devices && l->head < l->queue.n) {
			is_started = false;
			if (!l->n_running)
				return err_set(e, INCORE_FAILED, "no-device",
					"%zu of %zu devices are healthy, and a task needs %llu",
					l->n_healthy, l->s->devices.n,
					(unsigned long long)p->needs.devices);
		}
		while (ok && is_started && l->head < l->queue.n && sweep_local_has_room(l))
			ok = start_next(l, &is_started, e);
		if (!ok)
			atomic_store(&l->is_ending, true); /* end the running tasks first */
		if (!reap_all(l, ok ? e : &later))
			ok = false;
		incore_error_clear(&later);
	}
	return ok;
}

/* Takes over tasks that an earlier driver left running: their results, or that they were cut. */
static bool local_take_over(struct local *l, struct incore_error *e)
{
	static const struct sweep_result cut = {
		.outcome = "cut", .how = "its driver was killed", .status = 1};
	struct sweep *s = l->s;

	for (uint32_t i = 0; i < s->plan.n_tasks; i++) {
		if (s->tasks[i].state == SWEEP_RUNNING && !sweep_settle(s, i, &cut, NULL, e))
			return false;
		if (s->tasks[i].state == SWEEP_WAITING && !s->tasks[i].is_excluded &&
			!VEC_PUSH(&l->queue, i))
			return err_nomem(e);
	}
	return true;
}

static bool look_around(struct local *l, struct incore_error *e)
{
	struct sweep *s = l->s;
	const struct sweep_plan *p = &s->plan;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
	uint64_t by_cpu = (uint64_t)(cpus > 0 ? cpus : 1) / p->needs.cpus;

	if (p->needs.devices && !sweep_devices_find(p, &s->arena, &s->devices, e))
		return false;
	if (s->devices.n < p->needs.devices)
		return err_set(e, INCORE_FAILED, "no-device",
			"a task needs %llu device%s, and %zu %s here; name them in the plan, or see incore doctor",
			(unsigned long long)p->needs.devices, plural(p->needs.devices),
			s->devices.n, p->pool.devices.n ? "are named" : "were found");
	l->n_healthy = s->devices.n;
	l->n_slots = p->pool.slots ? p->pool.slots : by_cpu ? by_cpu : 1;
	if (p->needs.devices && !p->pool.slots)
		l->n_slots = UINT64_MAX;
	l->memory_bytes = p->pool.memory_bytes ? p->pool.memory_bytes
					       : (uint64_t)(pages > 0 ? pages : 0) *
							 (uint64_t)sysconf(_SC_PAGESIZE);
	if (p->needs.memory_bytes > l->memory_bytes)
		return err_set(e, INCORE_FAILED, "no-room",
			"a task needs %llu MiB of memory, and there are %llu",
			(unsigned long long)(p->needs.memory_bytes >> 20),
			(unsigned long long)(l->memory_bytes >> 20));
	l->devices = mem_zalloc(s->devices.n + 1, sizeof(*l->devices));
	l->leases = p->pool.leases ? p->pool.leases : lease_directory();
	l->program = sweep_own_program(&s->arena);
	l->cancel = arena_printf(&s->arena, "%s/" SWEEP_CANCEL, s->dir);
	if (!l->devices || !l->program || !l->cancel)
		return err_nomem(e);
	unlink(l->cancel);
	return true;
}

bool sweep_run_local(struct sweep *s, struct incore_error *e)
{
	struct local l = {.s = s};
	bool ok;

	pthread_mutex_init(&l.lock, NULL);
	pthread_cond_init(&l.changed, NULL);
	ok = look_around(&l, e) && sweep_note_driver(s, e) && local_take_over(&l, e) &&
	     drive(&l, e);
	if (ok && atomic_load(&l.is_ending))
		ok = err_set(e, INCORE_FAILED, "interrupted",
			"interrupted; continue with incore sweep --resume");
	pthread_cond_destroy(&l.changed);
	pthread_mutex_destroy(&l.lock);
	VEC_FREE(&l.queue);
	mem_free(l.devices);
	return ok;
}
