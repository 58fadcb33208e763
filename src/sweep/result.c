/* SPDX-License-Identifier: Apache-2.0 */
/* result.c: result.json, put in place by link(): atomic, and never over another. */
#include "sweep/result.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file_fence.h"
#include "codec/json_writer.h"

uint64_t sweep_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

const char *sweep_task_name(uint64_t cell, uint64_t repeat, uint64_t repeats, struct arena *a)
{
	if (repeats == 1)
		return arena_printf(a, "%05llu", (unsigned long long)cell);
	return arena_printf(a, "%05llu.%llu", (unsigned long long)cell, (unsigned long long)repeat);
}

const char *sweep_attempt_dir(const char *dir, const char *task, uint32_t attempt, struct arena *a)
{
	return task ? arena_printf(a, "%s/cells/%s/%u", dir, task, attempt) : NULL;
}

bool sweep_make_folders(const char *path, struct incore_error *e)
{
	char *copy = mem_strndup(path, strlen(path));
	bool ok = true;

	if (!copy)
		return err_nomem(e);
	for (char *p = copy + 1; ok; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = '\0';
		ok = mkdir(copy, 0777) == 0 || errno == EEXIST ||
		     err_output(e, errno, copy, "cannot make the folder");
		*p = c;
		if (!c)
			break;
	}
	mem_free(copy);
	return ok;
}

/* Writes and syncs the file before anybody can see it. */
static bool write_new(const char *path, struct str text, struct incore_error *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	bool ok;

	if (fd < 0)
		return err_output(e, errno, path, "cannot write the result");
	ok = write_all(fd, text.p, text.n, e) &&
	     (fsync(fd) == 0 || err_output(e, errno, path, "cannot write the result"));
	close(fd);
	return ok;
}

static void sync_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
}

bool sweep_result_tell(
	const char *attempt_dir, struct str json, bool *is_first, struct incore_error *e)
{
	struct strbuf tmp = {0}, path = {0};
	bool ok;

	*is_first = false;
	sb_printf(&path, "%s/" SWEEP_RESULT, attempt_dir);
	sb_printf(&tmp, "%s/.%s.%ld.%llx", attempt_dir, SWEEP_RESULT, (long)getpid(),
		(unsigned long long)sweep_now_ms());
	ok = ((!path.failed && !tmp.failed) || err_nomem(e)) &&
	     sweep_make_folders(attempt_dir, e) && write_new(tmp.p, json, e);
	if (ok && link(tmp.p, path.p) == 0) {
		*is_first = true;
		sync_folder(attempt_dir);
	} else if (ok && errno != EEXIST) {
		ok = err_output(e, errno, path.p, "cannot put the result in place");
	}
	if (tmp.p)
		unlink(tmp.p);
	sb_free(&tmp);
	sb_free(&path);
	return ok;
}

bool sweep_result_claim(const char *attempt_dir, const struct sweep_result *r, bool *is_first,
	struct incore_error *e)
{
	struct json_writer w;
	struct strbuf text = {0};
	bool ok;

	json_w_buf(&w, &text, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "schema", SWEEP_RESULT_SCHEMA);
	json_w_kv_cstr(&w, "outcome", r->outcome);
	json_w_kv_cstr(&w, "how", r->how);
	json_w_kv_i64(&w, "status", r->status);
	json_w_kv_u64(&w, "begin_ms", r->begin_ms);
	json_w_kv_u64(&w, "wall_ms", r->wall_ms);
	json_w_end(&w);
	ok = json_w_finish(&w, e) &&
	     sweep_result_tell(attempt_dir, (struct str){text.p, text.n}, is_first, e);
	sb_free(&text);
	return ok;
}

/* --- reading --- */

void sweep_get_text(struct json_reader *r, struct arena *a, const char **out)
{
	struct str s;

	if (json_get_str_or_null(r, &s) && s.p) {
		*out = arena_strndup(a, s.p, s.n);
		if (!*out)
			json_reject(r, "no-memory", "out of memory");
	}
}

static void sweep_result_get_captures(
	struct json_reader *r, struct arena *a, struct sweep_result *out)
{
	VEC(const char *) v = {0};
	struct str key;

	for (json_enter_array(r); json_next_item(r);) {
		const char *path = NULL;

		for (json_enter_object(r); json_next_key(r, &key);) {
			if (str_is(key, "path"))
				sweep_get_text(r, a, &path);
			else
				json_skip(r);
		}
		if (path && !VEC_PUSH(&v, path))
			json_reject(r, "no-memory", "out of memory");
	}
	if (v.n && VEC_PUSH(&v, NULL))
		out->captures = arena_memdup(a, v.v, v.n * sizeof(*v.v));
	VEC_FREE(&v);
}

static bool sweep_result_parse(struct json_reader *r, struct arena *a, struct sweep_result *out)
{
	struct str key;

	for (json_enter_object(r); json_next_key(r, &key);) {
		if (str_is(key, "outcome"))
			sweep_get_text(r, a, &out->outcome);
		else if (str_is(key, "how"))
			sweep_get_text(r, a, &out->how);
		else if (str_is(key, "host"))
			sweep_get_text(r, a, &out->host);
		else if (str_is(key, "status"))
			json_get_i64(r, &out->status);
		else if (str_is(key, "begin_ms"))
			json_get_u64(r, &out->begin_ms);
		else if (str_is(key, "wall_ms"))
			json_get_u64(r, &out->wall_ms);
		else if (str_is(key, "captures"))
			sweep_result_get_captures(r, a, out);
		else
			json_skip(r);
	}
	return (out->outcome && out->how) ||
	       json_reject(r, "bad-value", "a result needs the keys \"outcome\" and \"how\"");
}

bool sweep_result_read(const char *attempt_dir, struct arena *a, struct sweep_result *out,
	bool *is_there, struct incore_error *e)
{
	char *path = path_join(attempt_dir, SWEEP_RESULT);
	struct file_fence fence = {0};
	struct file_data f = {0};
	struct json_reader r;
	struct stat st;
	bool ok;

	*out = (struct sweep_result){0};
	ok = path ? file_fence_add(&fence, attempt_dir, e) : err_nomem(e);
	*is_there = ok && file_lstat_in(&fence, path, &st) == 0;
	if (!*is_there) {
		file_fence_deinit(&fence);
		mem_free(path);
		return ok;
	}
	ok = file_load_in(&fence, &f, path, e);
	file_fence_deinit(&fence);
	if (ok) {
		json_init(&r, f.data, f.size, path, 0);
		sweep_result_parse(&r, a, out);
		ok = json_finish(&r, e);
		json_deinit(&r);
	}
	file_unload(&f);
	mem_free(path);
	return ok;
}
