/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.c: one function per thing that a capture needs. */
#include "capture/doctor.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "capture/before.h"
#include "capture/cuda.h"
#include "capture/rocprof.h"
#include "run/job.h"

#define LEAST_ROOM ((uint64_t)160 << 20) /* the first buffer, and room for its results */
#define GOOD_ROOM ((uint64_t)4 << 30)
#define ASK_MS 30000

static const struct column finding_columns[] = {
	COLUMN(doctor_finding, kind, UNIT_NONE, "subject of the check", .title = "for",
		.words = "att|msprof|cuda"),
	COLUMN(doctor_finding, severity, UNIT_NONE,
		"severity of the finding; error: a capture would fail",
		.words = "ok|info|warning|error"),
	COLUMN(doctor_finding, id, UNIT_NONE, "name of the check"),
	COLUMN(doctor_finding, message, UNIT_NONE, "what was found"),
	COLUMN(doctor_finding, fix, UNIT_NONE, "how to fix it", NULLABLE),
};
const struct record doctor_finding_record =
	RECORD_OF(doctor_finding, RECORD_BLOCK, finding_columns);
static const struct column doctor_columns[] = {
	COLUMN(doctor_answer, verdict, UNIT_NONE,
		"whether a capture of any of these kinds would work", .words = "ready|not-ready"),
	VECTOR(doctor_answer, findings, "findings", &doctor_finding_record,
		"results of all checks"),
};
const struct record doctor_record = RECORD_OF(doctor_answer, RECORD_BLOCK, doctor_columns);

/* Adds a finding. fix: NULL if there is nothing to do. */
static void PRINTF_LIKE(5, 6) doctor_find(struct doctor *d, const char *severity, const char *id,
	const char *fix, const char *fmt, ...)
{
	struct doctor_finding f = {d->kind, severity, id, NULL, fix};
	struct strbuf b = {0};
	va_list ap;

	va_start(ap, fmt);
	sb_vprintf(&b, fmt, ap);
	va_end(ap);
	f.message = drive_text(&d->arena, &b);
	d->n_errors += strcmp(severity, "error") == 0;
	d->is_nomem |= !f.message || !VEC_PUSH(&d->answer.findings, f);
}

/* A path below the root; "": out of memory. */
static const char *doctor_check_place(struct doctor *d, const char *path)
{
	const char *p = arena_printf(&d->arena, "%s%s", d->root, path);

	d->is_nomem |= !p;
	return p ? p : "";
}

/* The text of a small file without surrounding blanks; empty if it does not exist. Files of /proc
 * and /sys do not report their size. */
static struct str doctor_check_text_at(struct doctor *d, const char *path)
{
	char buf[16384], *copy;
	int fd = open(doctor_check_place(d, path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, buf, sizeof(buf));

	if (fd >= 0)
		close(fd);
	copy = arena_strndup(&d->arena, buf, n > 0 ? (size_t)n : 0);
	d->is_nomem |= !copy;
	return copy ? str_trim(str_of(copy)) : (struct str){"", 0};
}

/* --- needed by all captures --- */

static void look_at_room(struct doctor *d)
{
	struct statvfs fs;
	uint64_t room;

	if (statvfs(d->dir, &fs) != 0)
		return;
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	doctor_find(d,
		room < LEAST_ROOM  ? "error"
		: room < GOOD_ROOM ? "warning"
				   : "ok",
		"disk-room",
		room < GOOD_ROOM ? "free some, or capture into another file system with -o" : NULL,
		"%llu MiB are free where captures go (%s)", (unsigned long long)(room >> 20),
		d->dir);
}

static void look_at_device(struct doctor *d, const char *path, const char *driver, const char *fix)
{
	const char *p = doctor_check_place(d, path);

	if (!file_exists(p))
		doctor_find(d, "error", "no-device", driver, "there is no %s", path);
	else if (access(p, R_OK | W_OK) != 0)
		doctor_find(d, "error", "no-rights", fix,
			"%s may not be read and written by this user", path);
	else
		doctor_find(d, "ok", "device", NULL, "%s may be used", path);
}

static void look_at_program(
	struct doctor *d, const char *name, const char *severity, const char *fix)
{
	char *path = process_find(name);

	if (path)
		doctor_find(d, "ok", "program", NULL, "%s: %s", name, path);
	else
		doctor_find(d, severity, "no-program", fix, "there is no %s in PATH", name);
	mem_free(path);
}

/* Warnings for variables that change what is traced, or which devices are seen. */
static void look_at_environment(struct doctor *d, const char *const *starts)
{
	for (char **p = environ; *p; p++)
		for (const char *const *s = starts; *s; s++)
			if (strncmp(*p, *s, strlen(*s)) == 0)
				doctor_find(d, "warning", "environment",
					"unset it, unless it is meant",
					"%s is set, and changes what is traced", *p);
}

/* --- AMD --- */

/* Thread traces work without these: what a release lacks is reported, but not as an error. */
static void look_at_jobs(struct doctor *d, const struct rocprof *r)
{
	if (!rocprof_has(r, "--pmc"))
		doctor_find(d, "info", "no-pmc", "install ROCm 6.4 or newer",
			"this release takes no counters: capture pmc would fail");
	if (!rocprof_has(r, "--pc-sampling-beta-enabled"))
		doctor_find(d, "info", "no-pc-sampling", "install ROCm 6.4 or newer",
			"this release takes no PC samples: capture pcs would fail");
	else if (!str_has(str_of(r->help), "stochastic"))
		doctor_find(d, "info", "no-stochastic", "install ROCm 7.0 or newer",
			"PC samples are taken by host_trap alone, without reasons");
	if (!str_has(str_of(r->help), "rocpd"))
		doctor_find(d, "info", "no-rocpd", "install ROCm 7.0 or newer",
			"this release writes no databases: capture sys would fail");
}

static void look_at_rocprof(struct doctor *d, const char *tool)
{
	struct incore_error e = {0};
	struct rocprof r;

	if (!rocprof_find(&r, tool, &d->arena, &e)) {
		doctor_find(d, "error", e.code ? e.code : "tool-failed",
			"install rocprofiler-sdk of ROCm 6.4 or newer", "%s",
			e.message ? e.message : "rocprofv3 cannot be asked");
		incore_error_clear(&e);
		return;
	}
	doctor_find(d, "ok", "rocprofv3", NULL, "rocprofv3 %s: %s", r.version, r.path);
	if (!rocprof_has(&r, "--att") && !rocprof_has(&r, "--advanced-thread-trace"))
		doctor_find(d, "error", "no-att", "install ROCm 6.4 or newer",
			"this release has no thread trace");
	if (!rocprof_has(&r, "--kernel-trace"))
		doctor_find(d, "warning", "no-kernel-trace", "name --kernel, with --no-discovery",
			"this release cannot list launches");
	look_at_jobs(d, &r);
	for (const struct rocprof_fault *f = rocprof_faults; f->id; f++)
		if (rocprof_has_fault(&r, f))
			doctor_find(
				d, "warning", f->id, f->fix, "rocprofv3 %s %s", r.version, f->what);
}

/* Kernels that are built while the application runs have source lines only if asked for. */
static void look_at_lines(struct doctor *d)
{
	static const char *const nothing[] = {NULL};
	const char *text = before_no_lines(nothing, &d->arena, &d->is_nomem);

	if (text)
		doctor_find(d, "warning", "no-source-lines", "change the environment as it says",
			"%s", text);
}

struct gpu_count {
	struct doctor *d;
	unsigned n;
};

/* "gfx_target_version 90500" is gfx950; 0 is a processor. */
static bool doctor_check_count_node(void *ctx, const char *name, struct incore_error *e)
{
	struct gpu_count *c = ctx;
	const char *path =
		arena_printf(&c->d->arena, "/sys/class/kfd/kfd/topology/nodes/%s/properties", name);
	const char *at =
		path ? strstr(doctor_check_text_at(c->d, path).p, "gfx_target_version ") : NULL;
	unsigned long v = at ? strtoul(at + strlen("gfx_target_version "), NULL, 10) : 0;

	if (v)
		doctor_find(c->d, "ok", "gpu", NULL, "node %s is gfx%lu%lx%lx", name, v / 10000,
			v / 100 % 100, v % 100);
	c->n += v != 0;
	return path || err_nomem(e);
}

/* The text of a file of a card's driver. */
static struct str card_text(struct doctor *d, const char *card, const char *name)
{
	const char *path = arena_printf(&d->arena, "/sys/class/drm/%s/device/%s", card, name);

	d->is_nomem |= !path;
	return path ? doctor_check_text_at(d, path) : (struct str){"", 0};
}

static bool look_at_card(void *ctx, const char *name, struct incore_error *e)
{
	struct doctor *d = ctx;
	struct str level = card_text(d, name, "power_dpm_force_performance_level");
	bool is_free = str_is(level, "auto");
	uint64_t total, used;

	(void)e;
	if (level.n)
		doctor_find(d, is_free ? "warning" : "ok", "clock",
			is_free ? "rocm-smi --setperfdeterminism MHZ" : NULL,
			"the clock of %s is %s", name,
			is_free ? "not locked: cycles can be compared, microseconds cannot"
				: "locked");
	if (str_to_u64(card_text(d, name, "mem_info_vram_total"), &total) &&
		str_to_u64(card_text(d, name, "mem_info_vram_used"), &used) && used <= total)
		doctor_find(d, total - used < LEAST_ROOM ? "error" : "ok", "buffer-room",
			total - used < LEAST_ROOM ? "end what else runs on the GPU" : NULL,
			"%llu MiB of memory of %s are free",
			(unsigned long long)(total - used) >> 20, name);
	return true;
}

static void look_at_amd(struct doctor *d, const char *tool)
{
	static const char *const VARIABLES[] = {"ROCPROF_ATT_",
		"ROCPROF_ADVANCED_THREAD_TRACE=", "ROCPROFILER_SQTT_",
		"HSA_CU_MASK=", "ROCR_VISIBLE_DEVICES=", "HIP_VISIBLE_DEVICES=", NULL};
	struct gpu_count c = {d, 0};

	look_at_rocprof(d, tool);
	look_at_lines(d);
	look_at_device(d, "/dev/kfd",
		"load the driver amdgpu; in a container: --device /dev/kfd --device /dev/dri",
		"add this user to the groups render and video");
	dir_each(doctor_check_place(d, "/sys/class/kfd/kfd/topology/nodes"),
		doctor_check_count_node, &c, NULL);
	if (!c.n)
		doctor_find(d, "error", "no-gpu", "look at dmesg for amdgpu",
			"the driver shows no GPU");
	dir_each(doctor_check_place(d, "/sys/class/drm"), look_at_card, d, NULL);
	look_at_environment(d, VARIABLES);
}

/* --- Ascend --- */

static void look_at_ascend(struct doctor *d)
{
	const char *home = getenv("ASCEND_HOME_PATH");
	char *simulator = home ? path_join(home, "tools/simulator") : NULL;

	look_at_program(d, "msprof", "error", "source set_env.sh of CANN");
	if (!home)
		doctor_find(d, "error", "no-cann", "source set_env.sh of CANN",
			"ASCEND_HOME_PATH is not set");
	else if (!simulator || !file_is_dir(simulator))
		doctor_find(d, "error", "no-simulator",
			"install the toolkit of CANN with its simulator",
			"there is no tools/simulator in %s", home);
	else
		doctor_find(d, "ok", "cann", NULL, "CANN with its simulator: %s", home);
	mem_free(simulator);
	if (!file_exists(doctor_check_place(d, "/dev/davinci_manager")))
		doctor_find(d, "info", "no-npu", NULL,
			"there is no NPU: the simulator needs none, profiling on the device does");
}

/* --- NVIDIA --- */

static void look_at_smi(struct doctor *d)
{
	struct job j = {.name = "nvidia-smi",
		.argv = (const char *const[]){"nvidia-smi",
			"--query-gpu=name,driver_version,clocks.sm,clocks.max.sm",
			"--format=csv,noheader", NULL},
		.limit_ms = ASK_MS};
	struct job_result r;
	struct str rest, line;

	if (!job_run(&j, &r, NULL)) {
		d->is_nomem = true;
		return;
	}
	rest = (struct str){r.tail.p ? r.tail.p : "", r.tail.n};
	if (job_exit_status(&r.process))
		doctor_find(d, "error", "no-gpu",
			"install the driver and its tools; look at dmesg for NVRM",
			"nvidia-smi is not there or fails: %.*s", STR_ARG(job_last_line(&r)));
	else
		while (str_cut(&rest, "\n", &line))
			if (line.n)
				doctor_find(d, "ok", "gpu", NULL, "%.*s", STR_ARG(line));
	job_result_deinit(&r);
}

/* Checks the library that `capture cuda` loads into an application. */
static void look_at_sampler(struct doctor *d)
{
	const char *library = cuda_find_library(&d->arena), *cupti = cuda_find_cupti(&d->arena);

	if (library)
		doctor_find(d, "ok", "library", NULL, "libincore-cuda: %s", library);
	else
		doctor_find(d, "error", "no-library",
			"install it beside this program, or name it with INCORE_CUDA_LIBRARY",
			"there is no libincore-cuda.so");
	if (cupti)
		doctor_find(d, "ok", "cupti", NULL, "CUPTI: %s", cupti);
	else
		doctor_find(d, "warning", "no-cupti",
			"install the CUDA toolkit, or name libcupti.so with --cupti; torch brings its own",
			"there is no CUPTI in $CUDA_HOME, /usr/local/cuda or /opt/cuda");
}

static void look_at_nvidia(struct doctor *d)
{
	static const char *const VARIABLES[] = {
		"CUDA_VISIBLE_DEVICES=", "CUDA_INJECTION64_PATH=", NULL};
	struct str params = doctor_check_text_at(d, "/proc/driver/nvidia/params");

	look_at_smi(d);
	look_at_device(d, "/dev/nvidiactl", "load the driver nvidia; in a container: --gpus all",
		"run as a user who may use the GPU");
	if (str_has(params, "RmProfilingAdminOnly: 1"))
		doctor_find(d, geteuid() ? "error" : "warning", "counters-locked",
			"options nvidia NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d, then reload the driver",
			"counters are for root alone (RmProfilingAdminOnly)");
	look_at_sampler(d);
	look_at_program(d, "ncu", "warning", "install Nsight Compute, or capture without it");
	look_at_environment(d, VARIABLES);
}

bool doctor_run(struct doctor *d, unsigned kinds, const char *tool, const char *root,
	struct incore_error *e)
{
	static const char *const NAMES[] = {"att", "msprof", "cuda"};

	*d = (struct doctor){.root = root, .dir = ".", .answer = {.verdict = "not-ready"}};
	arena_init(&d->arena);
	for (unsigned i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
		unsigned before = d->n_errors;

		if (!(kinds & 1u << i))
			continue;
		d->kind = NAMES[i];
		if (1u << i == DOCTOR_ATT)
			look_at_amd(d, tool);
		else if (1u << i == DOCTOR_MSPROF)
			look_at_ascend(d);
		else
			look_at_nvidia(d);
		look_at_room(d);
		if (d->n_errors == before)
			d->answer.verdict = "ready";
	}
	return !d->is_nomem || err_nomem(e);
}

void doctor_deinit(struct doctor *d)
{
	VEC_FREE(&d->answer.findings);
	arena_deinit(&d->arena);
}
