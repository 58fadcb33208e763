/* SPDX-License-Identifier: Apache-2.0 */
/* child.c: fork, read the output, wait. No exec: the library has no program of its own to start. */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/walls.h"

#define READ_BYTES 65536
#define STATUS_DONE 0
#define STATUS_REFUSED 111 /* not a status that a library would choose for exit() */

/* Is the parent alive? Works across pid namespaces. */
static bool has_reader(int fd)
{
	struct pollfd p = {.fd = fd};

	return poll(&p, 1, 0) == 0;
}

static _Noreturn void run_child(const struct child_job *j, int fd)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP, SIGTERM,
		SIGINT, SIGHUP, SIGXFSZ, SIGPIPE, SIGCHLD, SIGALRM};
	int null = fcntl(open("/dev/null", O_RDWR), F_DUPFD, 3);
	sigset_t none;

	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* it may have the number of a closed standard stream */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fd < 0 || !has_reader(fd))
		_exit(STATUS_REFUSED);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	walls_limit(RLIMIT_CORE, 0);
	walls_limit(RLIMIT_CPU, j->limit_s + 1u);
	_exit(j->work(j->ctx, fd) ? STATUS_DONE : STATUS_REFUSED);
}

/* Reads until the child closes its end. False: a limit exceeded, or no memory (out->failed). */
static bool child_read_answer(const struct child_job *j, int fd, struct strbuf *out)
{
	int64_t until = (int64_t)clock_ms() + (int64_t)j->limit_s * 1000;
	size_t start = out->n;

	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int64_t left = until - (int64_t)clock_ms();
		ssize_t n;

		if (left <= 0)
			return false;
		if (poll(&p, 1, left > 1000 ? 1000 : (int)left) == 0)
			continue;
		if (!sb_reserve(out, READ_BYTES))
			return false;
		n = read(fd, out->p + out->n, READ_BYTES);
		if (n == 0)
			return true;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return true;
		if (n > 0)
			out->n += (size_t)n;
		if (out->n - start > j->max_out_bytes)
			return false;
	}
}

static enum child_end wait_child(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return CHILD_CRASHED;
	if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_DONE)
		return CHILD_DONE;
	if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_REFUSED)
		return CHILD_REFUSED;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU ? CHILD_TOO_LONG : CHILD_CRASHED;
}

bool child_run(
	const struct child_job *j, struct strbuf *out, enum child_end *end, struct incore_error *e)
{
	int fd[2];
	pid_t pid;
	bool is_whole;

	if (fault_hit(FAULT_OPEN) || pipe2(fd, O_CLOEXEC) != 0)
		return err_set(e, INCORE_FAILED, "no-pipe", "cannot make a pipe");
	pid = j->is_apart ? walls_fork() : fork();
	if (pid == 0) {
		close(fd[0]);
		run_child(j, fd[1]);
	}
	close(fd[1]);
	if (pid < 0) {
		close(fd[0]);
		return err_set(e, INCORE_FAILED, "no-process", "cannot start a child process");
	}
	is_whole = child_read_answer(j, fd[0], out);
	if (!is_whole)
		kill(pid, SIGKILL);
	close(fd[0]);
	*end = wait_child(pid);
	if (out->p)
		out->p[out->n] = '\0';
	if (out->failed)
		return err_nomem(e);
	if (!is_whole)
		*end = CHILD_TOO_LONG;
	return true;
}
