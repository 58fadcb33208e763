/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiler that was taken over, as $CXX: what can it reach from behind its walls? argv[0] names it as
 * TOP/toolchain/bin/c++, and TOP/victim is what it must not touch. Says so as an error message, leaves a
 * child that would live on, and fails.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char through[4096];
static unsigned held;

static void must_fail(const char *name, long result)
{
	if (result < 0) {
		held++;
	} else {
		strcat(through, " ");
		strcat(through, name);
	}
}

static const char *below(const char *top, const char *name)
{
	static char path[8][4096];
	static unsigned i;

	snprintf(path[i % 8], sizeof(path[0]), "%s/%s", top, name);
	return path[i++ % 8];
}

static void try_files(const char *top)
{
	const char *secret = below(top, "victim/secret.h"), *file = below(top, "victim/written");
	const char *work = getenv("TMPDIR");
	struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};

	must_fail("read", open(secret, O_RDONLY));
	must_fail("list", open(below(top, "victim"), O_RDONLY | O_DIRECTORY));
	must_fail("create", open(file, O_CREAT | O_WRONLY, 0600));
	must_fail("create-in-cache",
		open(below(top, "cache/incore/recorder/x"), O_CREAT | O_WRONLY, 0600));
	must_fail("create-beside", open("written", O_CREAT | O_WRONLY, 0600));
	must_fail("create-in-kernels", open(below(top, "kernels/x"), O_CREAT | O_WRONLY, 0600));
	must_fail("create-in-tmp", open("/tmp/incore-attack", O_CREAT | O_WRONLY, 0600));
	must_fail("remove", unlink(secret));
	must_fail("truncate", truncate(secret, 0));
	must_fail("rename", rename(secret, below(work, "taken")));
	must_fail("link", link(secret, below(work, "taken")));
	must_fail("symlink", symlink(secret, below(work, "taken")));
	must_fail("mkfifo", mkfifo(below(work, "fifo"), 0600));
	must_fail("chown", chown(secret, getuid(), getgid()));
	must_fail("times", utimensat(AT_FDCWD, secret, NULL, 0));
	must_fail("run", execl(below(top, "kernels/program"), "x", (char *)NULL));
	must_fail("shadow", open("/etc/shadow", O_RDONLY));
	must_fail("passwd", open("/etc/passwd", O_RDONLY));
	must_fail("environ", open("/proc/self/environ", O_RDONLY));
	must_fail("init", open("/proc/1/status", O_RDONLY));
	must_fail("memory", open("/dev/mem", O_RDONLY));
	must_fail("disk", open("/dev/vda", O_RDONLY));
	must_fail("secret-variable", getenv("SECRET") ? 0 : -1);
	must_fail("core", setrlimit(RLIMIT_CORE, &all) == 0 && geteuid() != 0 ? 0 : -1);
	must_fail("large-file", setrlimit(RLIMIT_FSIZE, &all));
	must_fail("work-folder", open(below(work, "own"), O_CREAT | O_WRONLY, 0600) < 0 ? 0 : -1);
	chmod(secret, 0777); /* is answered, not done */
}

static void try_calls(pid_t victim)
{
	must_fail("kill", kill(victim, 0));
	must_fail("kill-all", kill(-1, 0));
	must_fail("tkill", syscall(SYS_tkill, victim, 0));
	must_fail("ptrace", ptrace(PTRACE_SEIZE, victim, 0, 0));
	must_fail("setsid", setsid());
	must_fail("setpgid", setpgid(0, 0));
	must_fail("inet", socket(AF_INET, SOCK_STREAM, 0));
	must_fail("unix", socket(AF_UNIX, SOCK_STREAM, 0));
	must_fail("unshare", syscall(SYS_unshare, 0x10000000));
	must_fail("clone-user", syscall(SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0));
	must_fail("clone3", syscall(SYS_clone3, 1, 88));
	must_fail("mount", syscall(SYS_mount, 0, 1, 1, 0, 0) < 0 && errno == EPERM ? -1 : 0);
	must_fail("chroot", syscall(SYS_chroot, "/"));
	must_fail("keyctl", syscall(SYS_keyctl, 0, -3, 1));
	must_fail("bpf", syscall(SYS_bpf, 0, 1, 8) < 0 && errno == EPERM ? -1 : 0);
	must_fail("userfaultfd", syscall(SYS_userfaultfd, 1));
	must_fail("io-uring", syscall(SYS_io_uring_setup, 1, 1) < 0 && errno == ENOSYS ? -1 : 0);
	must_fail("pidfd", syscall(SYS_pidfd_open, getpid(), 0));
	must_fail("x32", syscall(0x40000000 | SYS_getpid));
	must_fail("setuid", getuid() ? -1 : setresuid(12, 12, 12));
}

static void stay(void)
{
	if (fork() == 0) {
		for (int fd = 0; fd < 64; fd++)
			close(fd);
		sleep(120);
		_exit(0);
	}
}

int main(int argc, char **argv)
{
	char top[4096];

	(void)argc;
	snprintf(top, sizeof(top), "%s", argv[0]);
	for (int up = 0; up < 3; up++)
		*strrchr(top, '/') = '\0';
	try_files(top);
	try_calls(atoi(strrchr(argv[0], '-') + 1));
	stay();
	printf("error: let through:%s; held %u\n", through, held);
	return 1;
}
