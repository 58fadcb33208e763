/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel that tries to get out, by system calls of its own: while it is loaded (an ifunc resolver,
 * constructors) and when it runs. Slot 0 says what it does in kernel_entry(). What was let through
 * goes to the report (descriptor 6), which becomes the program's error message.
 * VICTIM: a folder that it has no business in; VICTIM_PID: a process of the same user.
 */
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <elf.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "incore/opstream_types.h"
#include "pto/pto-inst.hpp"

#ifdef OWN_SYMBOLS /* what walls of the C library's making would call */
extern "C" int prctl(int, ...)
{
	return 0;
}
extern "C" long syscall(long, ...) noexcept
{
	return 0;
}
#endif

#define FILE_IN_VICTIM VICTIM "/written"
#define SECRET VICTIM "/secret.h"

static inline long call(long n, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long at(const void *p)
{
	return reinterpret_cast<long>(p);
}

static char text[8192] = "crash\n";
static size_t length = 6;
static unsigned held;

static void say(const char *s)
{
	while (*s && length < sizeof(text))
		text[length++] = *s++;
}

/* Calls that would do harm beyond the victim get an argument that the system itself refuses, in
 * another way: what counts is who said no. */
static const long NOWHERE = 1;

static void must(bool is_held, const char *when, const char *name)
{
	if (is_held) {
		held++;
		return;
	}
	say(" ");
	say(when);
	say(":");
	say(name);
}

static void must_fail(const char *when, const char *name, long result)
{
	must(result < 0 && result > -4096, when, name);
}

[[noreturn]] static void tell()
{
	char number[24];
	size_t n = sizeof(number);

	number[--n] = 0;
	for (unsigned v = held; n && (v || n == sizeof(number) - 1); v /= 10)
		number[--n] = static_cast<char>('0' + v % 10);
	say("; held ");
	say(number + n);
	call(SYS_write, 6, at(text), static_cast<long>(length));
	call(SYS_exit_group, 10);
	__builtin_unreachable();
}

struct attempt {
	const char *name;
	long n, a, b, c, d, e;
};

static void files(const char *when)
{
	static char buffer[4096];
	static struct stat st;
	static uint64_t how[3] = {O_RDONLY, 0, 0};
	const long here = AT_FDCWD, secret = at(SECRET), file = at(FILE_IN_VICTIM);
	const long make = O_CREAT | O_WRONLY;
	const attempt all[] = {{"openat", SYS_openat, here, secret, O_RDONLY},
		{"open", SYS_open, secret, O_RDONLY}, {"openat2", SYS_openat2, here, secret, at(how), 24},
		{"create", SYS_openat, here, file, make, 0600}, {"creat", SYS_creat, file, 0600},
		{"up-and-out", SYS_openat, here, at("../../../../../../../../etc/passwd"), O_RDONLY},
		{"o-path", SYS_openat, here, at("/"), O_PATH},
		{"own-memory", SYS_openat, here, at("/proc/self/mem"), O_RDWR},
		{"environment", SYS_openat, here, at("/proc/self/environ"), O_RDONLY},
		{"by-handle", SYS_name_to_handle_at, here, secret, at(buffer), at(buffer + 256)},
		{"stat", SYS_stat, secret, at(&st)}, {"lstat", SYS_lstat, secret, at(&st)},
		{"statx", SYS_statx, here, secret, 0, 0x7ff, at(buffer)},
		{"access", SYS_access, secret, R_OK}, {"faccessat", SYS_faccessat, here, secret, R_OK},
		{"readlink", SYS_readlink, at("/proc/self/exe"), at(buffer), 4096},
		{"getcwd", SYS_getcwd, at(buffer), 4096}, {"chdir", SYS_chdir, at(VICTIM)},
		{"mkdir", SYS_mkdir, file, 0700}, {"unlink", SYS_unlink, secret},
		{"rename", SYS_rename, secret, file}, {"symlink", SYS_symlink, secret, file},
		{"link", SYS_link, secret, file}, {"chmod", SYS_chmod, secret, 0777},
		{"fchmodat", SYS_fchmodat, here, secret, 0777}, {"chown", SYS_chown, secret, 1, 1},
		{"truncate", SYS_truncate, secret, 0}, {"utimensat", SYS_utimensat, here, secret},
		{"mknod", SYS_mknod, file, S_IFIFO | 0600},
		{"setxattr", SYS_setxattr, secret, at("user.x"), at("y"), 1},
		{"getxattr", SYS_getxattr, secret, at("user.x"), at(buffer), 9},
		{"inotify", SYS_inotify_init1}, {"fanotify", SYS_fanotify_init, 0, 0},
		{"memfd", SYS_memfd_create, at("x"), 0}, {"lseek", SYS_lseek, 5, 1 << 20, 0},
		{"pwrite", SYS_pwrite64, 5, at("x"), 1, 1 << 20}, {"ftruncate", SYS_ftruncate, 5, 1 << 20},
		{"fallocate", SYS_fallocate, 5, 0, 0, 1 << 20}, {"dup", SYS_dup, 1}, {"dup2", SYS_dup2, 1, 9},
		{"fcntl", SYS_fcntl, 1, F_DUPFD, 9}, {"ioctl", SYS_ioctl, 1, 0x5412, at("x")},
		{"x32-open", 0x40000000 | SYS_open, secret, O_RDONLY},
		{"x32-openat", 0x40000000 | SYS_openat, here, secret, O_RDONLY}};

	for (const attempt &t : all)
		must(call(t.n, t.a, t.b, t.c, t.d, t.e) == -EPERM, when, t.name);
	/* these two are answered for the descriptor alone */
	must_fail(when, "newfstatat", call(SYS_newfstatat, here, secret, at(&st), 0));
	must_fail(when, "newfstatat-empty",
		call(SYS_newfstatat, here, secret, at(&st), AT_EMPTY_PATH));
}

static void processes(const char *when)
{
	static char buffer[256];
	static iovec mine = {buffer, 8}, theirs = {buffer, 8};
	static uint64_t clone_args[11] = {0, 0, 0, 0, SIGCHLD};
	static const rlimit most = {RLIM_INFINITY, RLIM_INFINITY};
	const long self = call(SYS_getpid);
	static const char *const none[] = {nullptr};
	const attempt all[] = {{"clone3", SYS_clone3, at(clone_args), 88}, {"setsid", SYS_setsid},
		{"setpgid", SYS_setpgid, 0, 0}, {"kill", SYS_kill, VICTIM_PID, 0},
		{"kill-all", SYS_kill, -1, 0}, {"tkill", SYS_tkill, VICTIM_PID, 0},
		{"tgkill", SYS_tgkill, VICTIM_PID, VICTIM_PID, 0},
		{"sigqueue", SYS_rt_sigqueueinfo, self, 0, at(buffer)},
		{"pidfd", SYS_pidfd_open, VICTIM_PID, 0}, {"ptrace", SYS_ptrace, PTRACE_SEIZE, VICTIM_PID, 0, 0},
		{"read-memory", SYS_process_vm_readv, VICTIM_PID, at(&mine), 1, at(&theirs), 1},
		{"getppid", SYS_getppid}, {"prlimit-other", SYS_prlimit64, VICTIM_PID, RLIMIT_CORE, at(&most)},
		{"setrlimit", SYS_setrlimit, RLIMIT_AS, at(&most)},
		{"prlimit", SYS_prlimit64, 0, RLIMIT_CORE, at(&most)},
		{"setpriority", SYS_setpriority, 0, 0, 1}, {"affinity", SYS_sched_setaffinity, 0, 8, at(buffer)},
		{"prctl", SYS_prctl, 4, 1}, {"seccomp", SYS_seccomp, 99, 0, 0},
		{"setuid", SYS_setuid, 0}, {"setresuid", SYS_setresuid, -1, -1, -1},
		{"setgroups", SYS_setgroups, 0, 0}, {"personality", SYS_personality, 0x0040000},
		{"unshare", SYS_unshare, CLONE_NEWUSER}, {"setns", SYS_setns, 0, 0},
		{"mount", SYS_mount, 0, NOWHERE, NOWHERE, 0, 0},
		{"umount", SYS_umount2, NOWHERE, 2}, {"chroot", SYS_chroot, at("/")},
		{"fsopen", SYS_fsopen, at("tmpfs"), 0}, {"open-tree", SYS_open_tree, AT_FDCWD, at("/"), 1},
		{"io-uring", SYS_io_uring_setup, 1, at(buffer)}, {"bpf", SYS_bpf, 0, at(buffer), 64},
		{"perf", SYS_perf_event_open, at(buffer), 0, -1, -1, 0},
		{"userfaultfd", SYS_userfaultfd, 1}, {"keyctl", SYS_keyctl, 0, -3, 1},
		{"add-key", SYS_add_key, NOWHERE, NOWHERE, 0, 0, -3},
		{"shmget", SYS_shmget, 0, 0, 0600}, {"msgget", SYS_msgget, 0x7ffffff1, 0},
		{"semget", SYS_semget, 0, -1, 0600}, {"mq", SYS_mq_open, at("x"), O_RDWR},
		{"socket", SYS_socket, AF_INET, SOCK_STREAM, 0}, {"unix", SYS_socket, AF_UNIX, SOCK_DGRAM, 0},
		{"netlink", SYS_socket, AF_NETLINK, SOCK_RAW, 0}, {"vsock", SYS_socket, AF_VSOCK, SOCK_STREAM, 0},
		{"socketpair", SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, at(buffer)},
		{"module", SYS_finit_module, -1, at(""), 0}, {"syslog", SYS_syslog, 3, at(buffer), 8},
		{"hostname", SYS_sethostname, NOWHERE, 8}, {"settime", SYS_settimeofday, NOWHERE},
		{"iopl", SYS_iopl, 0}, {"ldt", SYS_modify_ldt, 0, at(buffer), 16},
		{"timer", SYS_timer_create, 0, 0, at(buffer)}, {"eventfd", SYS_eventfd2, 0, 0},
		{"landlock", 444, 0, 0, 1}, {"x32-fork", 0x40000000 | SYS_fork},
		{"execveat", SYS_execveat, 0, NOWHERE, at(none), at(none), AT_EMPTY_PATH},
		{"execve", SYS_execve, NOWHERE, at(none), at(none)}};
	long child;

	for (const attempt &t : all)
		must(call(t.n, t.a, t.b, t.c, t.d, t.e) == -EPERM, when, t.name);
	for (int i = 0; i < 2; i++) {
		child = call(i ? SYS_clone : SYS_fork, i ? SIGCHLD : 0);
		if (child == 0)
			call(SYS_exit_group, 0);
		must_fail(when, i ? "clone" : "fork", child);
	}
}

/* Open is what a job needs and nothing else; of the environment there is nothing. */
static void leftovers(const char *when)
{
	static struct stat st;

	for (long fd = 7; fd < 1024; fd++)
		must_fail(when, "descriptor", call(SYS_fstat, fd, at(&st)));
	for (char **p = environ; p && *p; p++)
		must_fail(when, "environment", strncmp(*p, "LD_LIBRARY_PATH=", 16) == 0 ? -1 : 0);
}

static void try_all(const char *when)
{
	files(when);
	processes(when);
	leftovers(when);
}

/* A resolver runs while the loader still binds names. */
static void chosen()
{
}
extern "C" void (*choose())()
{
	static bool is_done;

	if (!is_done)
		files("resolver");
	is_done = true;
	return chosen;
}
__attribute__((ifunc("choose"))) void picked();

__attribute__((constructor(101))) static void first()
{
	try_all("constructor");
}

#ifdef SURVIVOR /* leaves its group and its session, and stays */
__attribute__((constructor(102))) static void stay()
{
	timespec long_time = {120, 0};

	if (call(SYS_fork) == 0) {
		call(SYS_setsid);
		for (long fd = 0; fd < 32; fd++)
			call(SYS_close, fd);
		call(SYS_nanosleep, at(&long_time));
		call(SYS_exit_group, 0);
	}
}
#endif

/* A call of the 32-bit kind, whose numbers are others: 5 is open. */
static long call_32(long n, long a, long b, long c)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(n), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

static void open_by_int80()
{
	long low = call(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1);

	memcpy(reinterpret_cast<void *>(low), SECRET, sizeof(SECRET));
	must_fail("entry", "int80-open", call_32(5, low, O_RDONLY, 0));
	must_fail("entry", "int80-fork", call_32(2, 0, 0, 0) == 0 ? call_32(1, 0, 0, 0) : 1);
}

static void ignore_signals()
{
	struct { /* as the system has it */
		long handler;
		unsigned long flags;
		long restorer;
		uint64_t mask;
	} ignore = {1, 0, 0, 0};
	uint64_t all = ~UINT64_C(0);

	for (long s = 1; s < 65; s++)
		call(SYS_rt_sigaction, s, at(&ignore), 0, 8);
	call(SYS_rt_sigprocmask, 0, at(&all), 0, 8);
}

static void garbage()
{
	static char noise[65536];

	memset(noise, 0xa5, sizeof(noise));
	memcpy(noise, OPSTREAM_MAGIC, 8);
	call(SYS_write, 5, at(noise), sizeof(noise));
	call(SYS_exit_group, 0);
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	timespec long_time = {60, 0};
	long end;

	picked();
	switch (args[0]) {
	case 0:
		try_all("entry");
		tell();
	case 1:
		length = 6; /* only what these do */
		open_by_int80();
		tell();
	case 2: /* as long as it may, without a sign of life */
		ignore_signals();
		for (;;)
			call(SYS_nanosleep, at(&long_time));
	case 3: /* more memory than it may have */
		length = 6;
		must_fail("entry", "memory",
			call(SYS_mmap, 0, 1L << 40, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1));
		end = call(SYS_brk, 0);
		must_fail("entry", "brk", call(SYS_brk, end + (1L << 40)) == end ? -1 : 0);
		tell();
	case 4: /* floods its output */
		for (;;)
			call(SYS_write, 1, at(text), sizeof(text));
	case 5: /* dies so that a core would be written */
		ignore_signals();
		*reinterpret_cast<volatile int *>(8) = 1;
		break;
	case 6:
		garbage();
		break;
	case 7: /* shuts everything and says that all is well */
		for (long fd = 0; fd < 16; fd++)
			call(SYS_close, fd);
		call(SYS_exit_group, 0);
		break;
	case 8: /* ends with a report that is none of its business */
		length = 0;
		say("no-walls\nforged");
		call(SYS_write, 6, at(text), static_cast<long>(length));
		call(SYS_exit_group, 10);
	}
}
