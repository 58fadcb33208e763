/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.c: three processes: ours, the guard, the program. The guard holds the read end of a
 * lifeline pipe: a byte on it is a signal for the program's group, its end asks for SIGKILL.
 */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/vec.h"

#define DEFAULT_MAX_OUTPUT ((size_t)64 << 20)
#define DEFAULT_GRACE_MS 2000
#define POLL_MS 50
#define POLL_END_MS 10 /* of the guard: for kernels without pidfd, and the rest of a group */
#define DRAIN_MS 500   /* to read what is left in the pipe once the program has ended */
#define STACK_ROOM (128 * 1024)
#define STRAY_ROUNDS 400 /* of 5 ms; a process that is not killed by then hangs in the kernel */

enum { GUARD_LIFELINE = 3, GUARD_STATUS = 4, GUARD_FIRST_FREE = 5 };

struct guard_report { /* from guard to us */
	int32_t end, code;
};

struct process_pipes {
	int in[2], out[2], lifeline[2], status[2];
};

/* --- guard and program: only async-signal-safe calls from here on --- */

static void close_above(unsigned first)
{
#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0u, 0) == 0)
		return;
#endif
	for (unsigned fd = first; fd < 65536; fd++)
		close((int)fd);
}

static void default_signals(void)
{
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int s = 1; s < 32; s++)
		sigaction(s, &plain, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void process_report(int end, int code)
{
	struct guard_report r = {end, code};
	ssize_t n = write(GUARD_STATUS, &r, sizeof(r));

	(void)n;
}

/* If more is mapped than the program may have (this is a copy of a large process), the stack cannot
 * grow any more once the limit is set: so room for the calls up to execve() is made before.
 * Not inlined: the room has to lie below the caller's frame, where those calls will be. */
__attribute__((noinline)) static void grow_stack(void)
{
	volatile char room[STACK_ROOM];

	for (size_t i = 0; i < sizeof(room); i += 1024)
		room[i] = 0;
}

static void become_program(const struct process_spec *spec, char **env, const char *path)
{
	int refused = 0;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	default_signals();
	fcntl(GUARD_STATUS, F_SETFD, FD_CLOEXEC);
	close(GUARD_LIFELINE);
	grow_stack();
	if (spec->memory_bytes)
		walls_limit(RLIMIT_AS, spec->memory_bytes);
	if (!spec->cwd || chdir(spec->cwd) == 0) {
		refused = spec->walls ? walls_enter(spec->walls) : 0;
		if (!refused)
			execve(path, (char *const *)spec->argv, env);
	}
	process_report(PROCESS_NOT_STARTED, refused ? refused : errno);
	_exit(127);
}

/* A descriptor that becomes readable when the process has ended; -1 if the kernel lacks that. */
static int pid_file(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	return -1;
#endif
}

/* Waits for the program or for the lifeline. After passing on a signal it also waits for the rest
 * of the group, which may end in its own way until the lifeline ends. */
static int watch(pid_t program)
{
	int status = 0, end_fd = pid_file(program);
	bool has_ended = false, is_asked = false;

	for (;;) {
		struct pollfd p[] = {
			{.fd = GUARD_LIFELINE, .events = POLLIN}, {.fd = end_fd, .events = POLLIN}};
		uint8_t byte;
		ssize_t n;

		has_ended = has_ended || waitpid(program, &status, WNOHANG) == program;
		while (has_ended && waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (has_ended && (!is_asked || kill(-program, 0) != 0))
			return status;
		if (poll(p, has_ended ? 1 : 2, !has_ended && end_fd >= 0 ? -1 : POLL_END_MS) <= 0 ||
			!p[0].revents)
			continue;
		n = read(GUARD_LIFELINE, &byte, 1);
		if (n == 1) {
			is_asked = true;
			kill(-program, byte);
			continue;
		}
		kill(-program, SIGKILL);
		if (!has_ended)
			waitpid(program, &status, 0);
		return status;
	}
}

/* Kills all current children; false: none, or the system does not list them. */
static bool kill_children(void)
{
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	char buf[4096];
	ssize_t n = fd < 0 ? 0 : read(fd, buf, sizeof(buf));
	pid_t pid = 0;

	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < n; i++) { /* "12 34 "; a number cut off by the buffer is skipped */
		if (buf[i] >= '0' && buf[i] <= '9') {
			pid = pid * 10 + (buf[i] - '0');
			continue;
		}
		if (pid > 1)
			kill(pid, SIGKILL);
		pid = 0;
	}
	return n > 0;
}

/* Kills processes that left the group. Not needed for the first process of a pid namespace: the
 * others end with it, and the pids in /proc would not be those of its namespace. */
static void end_strays(void)
{
	pid_t done = 0;

	for (unsigned i = 0; getpid() != 1 && i < STRAY_ROUNDS; i++) {
		bool is_listed = kill_children();

		while ((done = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (done < 0 || !is_listed)
			return;
		poll(NULL, 0, 5);
	}
}

static void be_guard(const struct process_spec *spec, char **env, const char *path)
{
	pid_t program;
	int status;

	setpgid(0, 0); /* signals from the terminal are only for us */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	close_above(GUARD_FIRST_FREE + spec->n_held);
	signal(SIGPIPE, SIG_IGN);
	program = walls_fork_again();
	if (program == 0)
		become_program(spec, env, path);
	if (program < 0) {
		process_report(PROCESS_NOT_STARTED, errno);
		_exit(0);
	}
	setpgid(program, program);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	status = watch(program);
	kill(-program, SIGKILL);
	end_strays();
	if (WIFEXITED(status))
		process_report(PROCESS_EXITED, WEXITSTATUS(status));
	else
		process_report(PROCESS_SIGNALLED, WTERMSIG(status));
	_exit(0);
}

/* Moves the guard's descriptors to their fixed numbers, whatever numbers they have now. */
static void process_place_files(const struct process_pipes *p, const struct process_spec *spec)
{
	int held[PROCESS_MAX_HELD];
	int in = fcntl(p->in[0], F_DUPFD, 64), out = fcntl(p->out[1], F_DUPFD, 64);
	int lifeline = fcntl(p->lifeline[0], F_DUPFD, 64),
	    status = fcntl(p->status[1], F_DUPFD, 64);

	if (in < 0 || out < 0 || lifeline < 0 || status < 0)
		_exit(0);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	dup2(lifeline, GUARD_LIFELINE);
	for (unsigned i = 0; i < spec->n_held; i++) {
		held[i] = fcntl(spec->held[i], F_DUPFD, 64);
		if (held[i] < 0)
			_exit(0);
	}
	dup2(status, GUARD_STATUS);
	for (unsigned i = 0; i < spec->n_held; i++)
		dup3(held[i], (int)(GUARD_FIRST_FREE + i), O_CLOEXEC);
}

/* --- our side --- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_pipes(struct process_pipes *p)
{
	for (int i = 0; i < 2; i++) {
		close_fd(&p->in[i]);
		close_fd(&p->out[i]);
		close_fd(&p->lifeline[i]);
		close_fd(&p->status[i]);
	}
}

static bool open_pipes(struct process_pipes *p, struct incore_error *e)
{
	int *all[] = {p->in, p->out, p->lifeline, p->status};

	for (size_t i = 0; i < 4; i++)
		all[i][0] = all[i][1] = -1;
	for (size_t i = 0; i < 4; i++)
		/* we write to sockets, because a reader that is gone then causes no SIGPIPE */
		if ((all[i] == p->in || all[i] == p->lifeline
				    ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, all[i])
				    : pipe2(all[i], O_CLOEXEC)) != 0) {
			err_set(e, INCORE_FAILED, "no-pipe", "cannot make a pipe: %s",
				strerror(errno));
			close_pipes(p);
			return false;
		}
	fcntl(p->in[1], F_SETFL, O_NONBLOCK);
	fcntl(p->out[0], F_SETFL, O_NONBLOCK);
	return true;
}

struct talk {
	const struct process_spec *spec;
	struct process_result *result;
	struct process_pipes *pipes;
	struct str input;
	uint64_t begin_ms, kill_ms; /* kill_ms 0: it was not asked to end yet */
	bool has_report, failed;
	struct guard_report report;
};

static void process_take_output(struct talk *t)
{
	char buf[65536];
	size_t most = t->spec->max_output_bytes ? t->spec->max_output_bytes : DEFAULT_MAX_OUTPUT;
	ssize_t n = read(t->pipes->out[0], buf, sizeof(buf));
	size_t room;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		close_fd(&t->pipes->out[0]);
		return;
	}
	if (t->spec->log_fd > 0)
		t->failed |= !write_all(t->spec->log_fd, buf, (size_t)n, NULL);
	if (t->spec->on_output)
		t->failed |= !t->spec->on_output(t->spec->output_ctx, buf, (size_t)n);
	if (!t->spec->output)
		return;
	room = t->spec->output->n < most ? most - t->spec->output->n : 0;
	t->result->is_output_cut |= (size_t)n > room;
	sb_add(t->spec->output, buf, (size_t)n < room ? (size_t)n : room);
}

static void give_input(struct talk *t)
{
	ssize_t n = t->input.n ? send(t->pipes->in[1], t->input.p, t->input.n, MSG_NOSIGNAL) : 0;

	if (n > 0)
		t->input = str_sub(t->input, (size_t)n, t->input.n);
	if (t->input.n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		close_fd(&t->pipes->in[1]);
}

static void take_report(struct talk *t)
{
	ssize_t n = read(t->pipes->status[0], &t->report, sizeof(t->report));

	if (n < 0 && errno == EINTR)
		return;
	t->has_report = n == (ssize_t)sizeof(t->report);
	close_fd(&t->pipes->status[0]);
}

/* If time is up or the run is cancelled: first asks the program to end, then kills it. */
static void enforce(struct talk *t)
{
	uint64_t now = clock_ms();
	unsigned grace = t->spec->grace_ms ? t->spec->grace_ms : DEFAULT_GRACE_MS;
	bool is_late = t->spec->limit_ms && now - t->begin_ms >= t->spec->limit_ms;
	bool is_cancelled = t->spec->is_cancelled && t->spec->is_cancelled(t->spec->cancel_ctx);

	if (!t->kill_ms && (is_late || is_cancelled)) {
		bool is_passed = is_cancelled && t->spec->cancel_signal;
		uint8_t byte = (uint8_t)(is_passed ? t->spec->cancel_signal(t->spec->cancel_ctx)
						   : SIGTERM);
		ssize_t n = send(t->pipes->lifeline[1], &byte, 1, MSG_NOSIGNAL);

		(void)n;
		t->kill_ms = now + grace;
		t->result->end = is_cancelled ? PROCESS_CANCELLED : PROCESS_TIMED_OUT;
	} else if (t->kill_ms && now >= t->kill_ms) {
		close_fd(&t->pipes->lifeline[1]);
	}
}

static void converse(struct talk *t)
{
	uint64_t end_ms = 0;

	while (t->pipes->status[0] >= 0 || (t->pipes->out[0] >= 0 && clock_ms() < end_ms)) {
		struct pollfd p[3] = {{t->pipes->out[0], POLLIN, 0},
			{t->pipes->status[0], POLLIN, 0}, {t->pipes->in[1], POLLOUT, 0}};
		bool had_status = t->pipes->status[0] >= 0;

		poll(p, 3, POLL_MS);
		if (p[0].revents)
			process_take_output(t);
		if (p[2].revents)
			give_input(t);
		if (p[1].revents)
			take_report(t);
		if (had_status && t->pipes->status[0] < 0)
			end_ms = clock_ms() + DRAIN_MS;
		enforce(t);
	}
}

static size_t name_len(const char *entry)
{
	return strcspn(entry, "=");
}

/* Our environment, overridden by spec->env; the strings are borrowed. */
static char **merge_env(const struct process_spec *spec)
{
	VEC(char *) v = {0};
	bool ok = true;

	for (char **p = spec->is_env_whole ? NULL : environ; ok && p && *p; p++) {
		bool is_replaced = false;

		for (const char *const *q = spec->env; q && *q; q++)
			is_replaced |=
				name_len(*p) == name_len(*q) && strncmp(*p, *q, name_len(*q)) == 0;
		ok = is_replaced || VEC_PUSH(&v, *p);
	}
	for (const char *const *q = spec->env; ok && q && *q; q++)
		ok = VEC_PUSH(&v, (char *)*q);
	if (ok && VEC_PUSH(&v, NULL))
		return v.v;
	VEC_FREE(&v);
	return NULL;
}

/* Finds `name` in the folders of `path_value`; the path is on the heap. */
static char *find_by(const char *path_value, const char *name)
{
	struct str rest = str_of(path_value), dir;

	if (strchr(name, '/'))
		return mem_strndup(name, strlen(name));
	while (str_cut(&rest, ":", &dir)) {
		char *d = mem_strndup(dir.n ? dir.p : ".", dir.n ? dir.n : 1);
		char *path = d ? path_join(d, name) : NULL;

		mem_free(d);
		if (path && access(path, X_OK) == 0 && !file_is_dir(path))
			return path;
		mem_free(path);
	}
	return NULL;
}

char *process_find(const char *name)
{
	return find_by(getenv("PATH"), name);
}

/* The PATH that the program itself will have. */
static const char *process_path_of(char **env)
{
	for (; env && *env; env++)
		if (strncmp(*env, "PATH=", 5) == 0)
			return *env + 5;
	return NULL;
}

static bool process_start(struct talk *t, char **env, const char *path, struct incore_error *e)
{
	pid_t guard = t->spec->walls ? walls_fork() : fork();

	if (guard == 0) {
		process_place_files(t->pipes, t->spec);
		be_guard(t->spec, env, path);
	}
	if (guard < 0)
		return err_set(e, INCORE_FAILED, "no-process", "cannot start a process: %s",
			strerror(errno));
	close_fd(&t->pipes->in[0]);
	close_fd(&t->pipes->out[1]);
	close_fd(&t->pipes->lifeline[0]);
	close_fd(&t->pipes->status[1]);
	converse(t);
	close_pipes(t->pipes); /* the guard ends with its lifeline, if it has not yet */
	while (waitpid(guard, NULL, 0) < 0 && errno == EINTR)
		;
	return true;
}

bool process_run(
	const struct process_spec *spec, struct process_result *out, struct incore_error *e)
{
	struct process_result result = {0};
	struct process_pipes pipes;
	struct talk t = {.spec = spec,
		.result = &result,
		.pipes = &pipes,
		.input = spec->input,
		.begin_ms = clock_ms()};
	char **env = merge_env(spec);
	char *path = find_by(process_path_of(env), spec->argv[0]);
	bool ok = env || err_nomem(e);

	if (ok && !path) {
		*out = (struct process_result){.end = PROCESS_NOT_STARTED, .code = ENOENT};
		mem_free(env);
		return true;
	}
	ok = ok && open_pipes(&pipes, e) && process_start(&t, env, path, e);
	mem_free(env);
	mem_free(path);
	if (!ok)
		return false;
	if (t.failed)
		return err_set(e, INCORE_FAILED, "write-failed", "cannot write the log of %s",
			spec->argv[0]);
	if (spec->output && spec->output->failed)
		return err_nomem(e);
	result.wall_ms = clock_ms() - t.begin_ms;
	if (!t.kill_ms) {
		result.end = t.has_report ? (enum process_end)t.report.end : PROCESS_SIGNALLED;
		result.code = t.has_report ? t.report.code : SIGKILL;
	}
	*out = result;
	return true;
}

void process_describe(
	const struct process_spec *spec, const struct process_result *r, struct strbuf *out)
{
	switch (r->end) {
	case PROCESS_EXITED:
		sb_printf(out, "exit status %d", r->code);
		break;
	case PROCESS_SIGNALLED:
		sb_printf(out, "killed by signal %d (%s)", r->code, strsignal(r->code));
		break;
	case PROCESS_TIMED_OUT:
		sb_printf(
			out, "not done after %llu s", (unsigned long long)(spec->limit_ms / 1000));
		break;
	case PROCESS_CANCELLED:
		sb_puts(out, "interrupted");
		break;
	case PROCESS_NOT_STARTED:
		sb_printf(out, "cannot be started: %s", strerror(r->code));
		break;
	}
}

void process_quote(const char *const *argv, struct strbuf *out)
{
	for (size_t i = 0; argv[i]; i++) {
		const char *plain =
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=+:,@%";

		if (i)
			sb_putc(out, ' ');
		if (*argv[i] && argv[i][strspn(argv[i], plain)] == '\0') {
			sb_puts(out, argv[i]);
			continue;
		}
		sb_putc(out, '\'');
		for (const char *p = argv[i]; *p; p++)
			sb_puts(out, *p == '\'' ? "'\\''" : (char[]){*p, '\0'});
		sb_putc(out, '\'');
	}
}
