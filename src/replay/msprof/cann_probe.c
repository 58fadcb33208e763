/* SPDX-License-Identifier: Apache-2.0 */
/* cann_probe.c: can this CANN compile the tile language, and does its profiler have its worker? */
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "replay/msprof/cann.h"

#define PROBE_LIMIT_MS 120000

static bool has(const struct strbuf *b, const char *words)
{
	return b->p && strstr(b->p, words);
}

static bool write_probe(const char *path, struct incore_error *e)
{
	struct out_file o = {0};

	if (!out_file_open(&o, path, e))
		return false;
	fputs("__biasbuf__ int *p;\n", o.f);
	return out_file_commit(&o, e);
}

/* Did the program run at all? Its exit status says little, so only failure to start and timeout
 * count. */
static bool has_run(const char *program, const struct process_result *r, struct incore_error *e)
{
	if (r->end == PROCESS_NOT_STARTED)
		return err_set(e, INCORE_MISSING, "not-started", "%s cannot be started: %s",
			program, strerror(r->code));
	return r->end != PROCESS_TIMED_OUT ||
	       err_set(e, INCORE_FAILED, "probe-failed", "%s did not answer within %d s", program,
		       PROBE_LIMIT_MS / 1000);
}

/* An old compiler does not know the address space; other errors are ignored. */
static bool probe_compiler(
	struct cann *c, const char *arch, const char *scratch, struct incore_error *e)
{
	const char *compiler = cann_program(c, "bisheng");
	char *source = arena_printf(&c->arena, "%s/probe_tile_language.cpp", scratch);
	char *arch_word = arena_printf(&c->arena, "--cce-aicore-arch=%s", arch);
	struct strbuf out = {0};
	struct process_result r;
	bool ok = true;

	if (!compiler)
		return err_set(e, INCORE_MISSING, "no-bisheng",
			"the compiler bisheng is not in the PATH that %s sets", c->set_env);
	if (!source || !arch_word)
		return err_nomem(e);
	if (!write_probe(source, e))
		return false;
	ok = process_run(&(struct process_spec){.argv = (const char *const[]){compiler, "-xcce",
							"--cce-aicore-enable-tl", arch_word, "-c",
							source, "-o", "/dev/null", NULL},
				 .env = c->env.v,
				 .output = &out,
				 .limit_ms = PROBE_LIMIT_MS},
		&r, e);
	unlink(source);
	ok = ok && has_run(compiler, &r, e);
	if (ok && has(&out, "__biasbuf__") && has(&out, "unknown type"))
		ok = err_set(e, INCORE_MISSING, "old-cann",
			"%s knows no tile language (__biasbuf__ is an unknown type to it): this CANN is too old, 8.5 or later is needed",
			compiler);
	sb_free(&out);
	return ok;
}

static bool find_worker(struct cann *c, struct incore_error *e)
{
	static const char *const PLACES[] = {"tools/msopprof", "tools/msopt"};
	struct strbuf looked = {0};

	for (size_t i = 0; i < 2; i++) {
		char *worker = arena_printf(&c->arena, "%s/%s/bin/msopprof", c->home, PLACES[i]);
		char *library = arena_printf(
			&c->arena, "%s/%s/lib64/libmsopprof_injection.so", c->home, PLACES[i]);

		if (!worker || !library) {
			sb_free(&looked);
			return err_nomem(e);
		}
		if (file_exists(worker) && file_exists(library)) {
			sb_free(&looked);
			return true;
		}
		sb_printf(&looked, "%s%s", looked.n ? ", " : "",
			file_exists(worker) ? library : worker);
	}
	err_set(e, INCORE_MISSING, "no-worker",
		"the worker of msprof's simulator is not complete in this CANN: looked for %s",
		looked.p ? looked.p : "");
	sb_free(&looked);
	return false;
}

static bool probe_profiler(struct cann *c, struct incore_error *e)
{
	static const char *const BAD[] = {
		"Cannot find msopprof", "does not exist or permission denied", "is soft link"};
	const char *msprof = cann_program(c, "msprof");
	struct strbuf out = {0};
	struct process_result r;
	bool ok;

	if (!msprof)
		return err_set(e, INCORE_MISSING, "no-msprof",
			"the profiler msprof is not in the PATH that %s sets", c->set_env);
	ok = process_run(&(struct process_spec){.argv = (const char *const[]){msprof, "op",
							"simulator", "--help", NULL},
				 .env = c->env.v,
				 .output = &out,
				 .limit_ms = PROBE_LIMIT_MS},
		&r, e);
	ok = ok && has_run(msprof, &r, e);
	for (size_t i = 0; ok && i < sizeof(BAD) / sizeof(*BAD); i++)
		if (has(&out, BAD[i]))
			ok = err_set(e, INCORE_MISSING, "no-worker",
				"\"msprof op simulator --help\" says \"%s\": its worker is missing or unusable",
				BAD[i]);
	if (ok && !(has(&out, "--application") && has(&out, "Options:")))
		ok = err_set(e, INCORE_MISSING, "no-worker",
			"\"msprof op simulator --help\" does not list its options: expected \"Options:\" and \"--application\", found \"%.200s\"",
			out.p ? out.p : "");
	sb_free(&out);
	return ok;
}

bool cann_probe(struct cann *c, const char *arch, const char *scratch, struct incore_error *e)
{
	return probe_compiler(c, arch, scratch, e) && find_worker(c, e) && probe_profiler(c, e);
}
