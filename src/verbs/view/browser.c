/* SPDX-License-Identifier: Apache-2.0 */
/* browser.c: opens the URL of the viewer. */
#include "verbs/view/browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

extern char **environ;

static char *make_page(const char *url)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct strbuf name = {0}, text = {0};
	char *dir = runtime && runtime[0] == '/' ? path_join(runtime, "incore") : NULL;
	char *path = NULL;
	int fd = -1;

	sb_printf(&name, "view-%ld.html", (long)getpid());
	sb_printf(&text,
		"<!doctype html><meta charset=\"utf-8\"><title>incore</title>"
		"<meta http-equiv=\"refresh\" content=\"0;url=%s\"><a href=\"%s\">incore</a>\n",
		url, url);
	if (dir && !name.failed && !text.failed) {
		mkdir(dir, 0700);
		path = path_join(dir, name.p);
	}
	if (path)
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || !write_all(fd, text.p, text.n, NULL)) {
		if (fd >= 0)
			unlink(path);
		mem_free(path);
		path = NULL;
	}
	if (fd >= 0)
		close(fd);
	mem_free(dir);
	sb_free(&name);
	sb_free(&text);
	return path;
}

void browser_open(struct browser *b, const char *url)
{
	char *argv[] = {(char *)"xdg-open", NULL, NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;

	b->path = make_page(url);
	if (!b->path)
		return;
	argv[1] = b->path;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) != 0)
		browser_close(b);
	posix_spawn_file_actions_destroy(&actions);
}

void browser_close(struct browser *b)
{
	if (b->path)
		unlink(b->path);
	mem_free(b->path);
	b->path = NULL;
}
