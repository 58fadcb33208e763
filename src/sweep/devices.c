/* SPDX-License-Identifier: Apache-2.0 */
/* devices.c: finds devices through kfd's topology, nvidia-smi, npu-smi, or as the plan names
 * them. */
#include "sweep/devices.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/vec.h"
#include "run/job.h"

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

const char *const *sweep_visibility(const struct sweep_device *const *d, size_t n, struct arena *a)
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

bool sweep_device_check(const struct sweep_plan *p, const struct sweep_device *d, struct arena *a,
	const char **why, struct incore_error *e)
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
