/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walls.c: Landlock, a filter of system calls, capabilities and namespaces, with raw calls: the C
 * library has no functions for most of them.
 *
 * Parts: a root with only the given paths; Landlock, system calls, capabilities, namespaces.
 */
#include "base/walls.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- a root with only the given paths --------------------------------------------------------- */

/*
 * A root folder with only the given paths. Landlock hides the content of files but not their names:
 * a source could probe for them (__has_include). Here they do not exist. Links on the way to a path
 * are recreated, so that every name leads where it led. All with raw system calls, in a child that
 * must not allocate.
 */

#define MOST_LINKS 40u

/* The numbers are the same on every architecture. */
enum { OPEN_TREE = 428, MOVE_MOUNT = 429, FS_OPEN = 430, FS_CONFIG = 431, FS_MOUNT = 432 };
enum { CLONE_WHOLE_TREE = 0x8001, MOVE_THIS = 4, NO_SETUID_NO_DEVICES = 6 };
enum { CONFIG_TEXT = 1, CONFIG_CREATE = 6 };

struct new_root {
	int fd;		     /* of its folder */
	char cwd[PATH_MAX];  /* real name of the current directory */
	char done[PATH_MAX], /* real name of the part walked so far; "": the root */
		rest[PATH_MAX] /* not yet looked at */, link[PATH_MAX];
};

/* Makes a/b of a. */
static bool walls_append(char *to, const char *name, size_t n)
{
	size_t at = strlen(to);

	if (at + n + 2 > PATH_MAX)
		return false;
	to[at] = '/';
	memcpy(to + at + 1, name, n);
	to[at + 1 + n] = '\0';
	return true;
}

/* Puts the target of a link in front of rest: b/rest or /b/rest. */
static bool prepend(char *rest, const char *link, size_t n)
{
	size_t have = strlen(rest);

	if (n + have + 2 > PATH_MAX)
		return false;
	memmove(rest + n + 1, rest, have + 1);
	memcpy(rest, link, n);
	rest[n] = '/';
	return true;
}

/* r->done is a link in the old root: recreates it in the new one, and follows it. */
static bool walls_follow(struct new_root *r)
{
	ssize_t n = readlink(r->done, r->link, sizeof(r->link) - 1);

	if (n <= 0)
		return false;
	r->link[n] = '\0';
	if (symlinkat(r->link, r->fd, r->done + 1) != 0 && errno != EEXIST)
		return false;
	if (r->link[0] == '/')
		r->done[0] = '\0';
	else
		*strrchr(r->done, '/') = '\0';
	return prepend(r->rest, r->link, (size_t)n);
}

/* Moves the next name of r->rest to the end of r->done. */
static bool walls_step(struct new_root *r)
{
	size_t n = strcspn(r->rest, "/");
	bool ok = true;

	if (n == 2 && memcmp(r->rest, "..", 2) == 0) {
		if (r->done[0])
			*strrchr(r->done, '/') = '\0';
	} else if (n && !(n == 1 && r->rest[0] == '.')) {
		ok = walls_append(r->done, r->rest, n);
	}
	n += strspn(r->rest + n, "/");
	memmove(r->rest, r->rest + n, strlen(r->rest + n) + 1);
	return ok;
}

/* Creates the folders and links along a path of the old root; *st describes what r->done then is.
 * False: the path does not exist, or cannot be made. */
static bool walls_walk(struct new_root *r, const char *path, struct stat *st)
{
	unsigned n_links = 0;
	size_t n = strlen(path);

	r->done[0] = '\0';
	if (n >= sizeof(r->rest) || (*path != '/' && strlen(r->cwd) > 1 &&
					    !walls_append(r->done, r->cwd + 1, strlen(r->cwd + 1))))
		return false;
	memcpy(r->rest, path, n + 1);
	memmove(r->rest, r->rest + strspn(r->rest, "/"), n + 1 - strspn(r->rest, "/"));
	do {
		if (!walls_step(r) || lstat(r->done[0] ? r->done : "/", st) != 0)
			return false;
		if (S_ISLNK(st->st_mode)) {
			if (++n_links > MOST_LINKS || !walls_follow(r))
				return false;
		} else if (S_ISDIR(st->st_mode) && r->done[0] &&
			   mkdirat(r->fd, r->done + 1, 0755) != 0 && errno != EEXIST) {
			return false;
		}
	} while (r->rest[0]);
	return true;
}

/* Mounts a path of the old root, with all below it, if it exists and is not in the new root yet. */
static bool walls_place(struct new_root *r, const char *path)
{
	struct stat st, seen;
	int fd;
	bool ok;

	if (!walls_walk(r, path, &st))
		return true;
	if (!r->done[0])
		return false;
	if (fstatat(r->fd, r->done + 1, &seen, 0) == 0) {
		if (st.st_dev == seen.st_dev && st.st_ino == seen.st_ino)
			return true;
	} else { /* a file: make a mount point for it */
		fd = openat(r->fd, r->done + 1, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
		if (fd < 0 || close(fd) != 0)
			return false;
	}
	fd = (int)syscall(OPEN_TREE, AT_FDCWD, r->done, CLONE_WHOLE_TREE | O_CLOEXEC);
	ok = fd >= 0 && syscall(MOVE_MOUNT, fd, "", r->fd, r->done + 1, MOVE_THIS) == 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

static bool walls_place_all(struct new_root *r, const struct walls *w)
{
	const char *const *const lists[] = {w->programs, w->readable, w->writable};
	struct stat st;
	bool ok = walls_walk(r, r->cwd, &st);

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (const char *const *p = lists[i]; ok && p && *p; p++)
			ok = walls_place(r, *p);
	return ok;
}

/* An empty folder in memory, mounted over the root; lookups still start below it. -1: not allowed.
 */
static int make_empty(void)
{
	int fs = (int)syscall(FS_OPEN, "tmpfs", 1), fd = -1;

	if (fs >= 0 && syscall(FS_CONFIG, fs, CONFIG_TEXT, "mode", "755", 0) == 0 &&
		syscall(FS_CONFIG, fs, CONFIG_CREATE, NULL, NULL, 0) == 0)
		fd = (int)syscall(FS_MOUNT, fs, 1, NO_SETUID_NO_DEVICES);
	if (fs >= 0)
		close(fs);
	if (fd >= 0 && syscall(MOVE_MOUNT, fd, "", AT_FDCWD, "/", MOVE_THIS) != 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* For the child: gives it a root with only what the walls let it use. False: the system does not
 * allow such a root, and file names stay visible. Async-signal-safe; walls_enter() calls it. */
static bool walls_hide(const struct walls *w)
{
	static struct new_root r; /* we are a child with one thread and little stack */
	bool ok;

	if (syscall(SYS_getcwd, r.cwd, sizeof(r.cwd)) <= 0 || r.cwd[0] != '/' ||
		syscall(SYS_unshare, CLONE_NEWNS) != 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return false;
	r.fd = make_empty();
	if (r.fd < 0)
		return false;
	ok = walls_place_all(&r, w) && fchdir(r.fd) == 0 &&
	     syscall(SYS_pivot_root, ".", ".") == 0 && umount2(".", MNT_DETACH) == 0;
	close(r.fd);
	return chdir(r.cwd) == 0 && ok;
}

/* --- Landlock, system calls, capabilities, namespaces ----------------------------------------- */

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#else
#define FILTER_ARCH 0 /* no filter is known for it */
#endif

const char *const walls_system[] = {"/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/opt",
	"/nix/store", "/gnu/store", "/etc/alternatives", "/etc/ld.so.cache", "/etc/os-release",
	"/etc/lsb-release", "/etc/debian_version", NULL};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The numbers are the same on every architecture. */
enum { LANDLOCK_CREATE = 444, LANDLOCK_ADD = 445, LANDLOCK_RESTRICT = 446 };
enum {
	MAY_EXECUTE = 1 << 0,
	MAY_WRITE = 1 << 1,
	MAY_READ = 1 << 2,
	MAY_LIST = 1 << 3,
	MAY_REMOVE = 3 << 4, /* folders and files */
	MAY_MAKE = 1 << 7 | 1 << 8,
	MAY_TRUNCATE = 1 << 14,
	OF_FILES = MAY_EXECUTE | MAY_WRITE | MAY_READ | MAY_TRUNCATE,
};

struct landlock_handled {
	uint64_t files, ports, scopes;
};

static long landlock_version(void)
{
	return syscall(LANDLOCK_CREATE, NULL, 0, 1);
}

/* All accesses that Landlock of this system can restrict. */
static struct landlock_handled all_handled(long version)
{
	return (struct landlock_handled){version >= 5	? 0xffff
					 : version >= 3 ? 0x7fff
					 : version == 2 ? 0x3fff
							: 0x1fff,
		version >= 4 ? 3 : 0, version >= 6 ? 3 : 0};
}

bool walls_are_possible(struct incore_error *e)
{
	uint32_t action = SECCOMP_RET_KILL_PROCESS;
	const char *missing = landlock_version() < 1 ? "Landlock (Linux 5.13 or later)"
			      : FILTER_ARCH == 0 || syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL,
							    0, &action) != 0
				      ? "a filter of system calls (seccomp)"
				      : NULL;

	return !missing ||
	       err_set(e, INCORE_MISSING, "no-walls",
		       "a kernel's source is native code, and this system has no %s to lock it in; --unsafe-native compiles and runs it with all your rights",
		       missing);
}

void walls_limit(int what, uint64_t value)
{
	struct rlimit r = {value, value};

	setrlimit(what, &r);
}

static pid_t clone_process(unsigned long flags)
{
	return (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
}

pid_t walls_fork_again(void)
{
	return clone_process(0);
}

static bool walls_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t n = strlen(text);
	bool ok = fd >= 0 && write(fd, text, n) == (ssize_t)n;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* Maps our own ids into the new user namespace: until then a process is nobody there and cannot
 * create files. */
static void stay_oneself(const char *uid_map, const char *gid_map)
{
	if (walls_write_file("/proc/self/setgroups", "deny") &&
		walls_write_file("/proc/self/gid_map", gid_map))
		walls_write_file("/proc/self/uid_map", uid_map);
}

pid_t walls_fork(void)
{
	char uid_map[40], gid_map[40];
	pid_t pid = clone_process(CLONE_NEWPID);

	if (pid >= 0)
		return pid;
	snprintf(uid_map, sizeof(uid_map), "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
	snprintf(gid_map, sizeof(gid_map), "%u %u 1", (unsigned)getegid(), (unsigned)getegid());
	pid = clone_process(CLONE_NEWPID | CLONE_NEWUSER);
	if (pid == 0)
		stay_oneself(uid_map, gid_map);
	return pid >= 0 ? pid : fork();
}

/* --- the child --- */

/* Drops all capabilities except those to access files: root may still read what its caller may. */
static bool drop_capabilities(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {0};
	const uint32_t kept = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH;

	if (syscall(SYS_capget, &head, data) != 0)
		return false;
	data[0].permitted &= kept;
	data[0].effective &= kept;
	data[0].inheritable = data[1].permitted = data[1].effective = data[1].inheritable = 0;
	return syscall(SYS_capset, &head, data) == 0;
}

static bool add_rule(int rules, const char *path, uint64_t rights)
{
	/* as the kernel lays it out: packed */
	struct __attribute__((packed)) {
		uint64_t rights;
		int32_t fd;
	} rule = {rights, open(path, O_PATH | O_CLOEXEC)};
	struct stat st;
	bool ok;

	if (rule.fd < 0)
		return true; /* not there: nothing to allow */
	if (fstat(rule.fd, &st) == 0 && !S_ISDIR(st.st_mode))
		rule.rights &= OF_FILES;
	ok = syscall(LANDLOCK_ADD, rules, 1, &rule, 0) == 0;
	close(rule.fd);
	return ok;
}

static bool shut_files(const struct walls *w)
{
	const struct landlock_handled h = all_handled(landlock_version());
	const uint64_t read = MAY_READ | MAY_LIST;
	const struct {
		const char *const *paths;
		uint64_t rights;
	} kinds[] = {{w->programs, read | MAY_EXECUTE}, {w->readable, read},
		{w->writable, read | MAY_WRITE | MAY_MAKE | MAY_REMOVE | MAY_TRUNCATE}};
	int rules = (int)syscall(LANDLOCK_CREATE, &h, sizeof(h), 0);
	bool ok = rules >= 0;

	for (size_t i = 0; i < COUNT(kinds); i++)
		for (const char *const *p = kinds[i].paths; ok && p && *p; p++)
			ok = add_rule(rules, *p, kinds[i].rights & h.files);
	return ok && syscall(LANDLOCK_RESTRICT, rules, 0) == 0 && close(rules) == 0;
}

/* A linker sets the mode of its output, and some fail if they cannot: these calls do nothing but
 * report success, and whoever started the compiler sets the mode. */
static const uint16_t PRETENDED[] = {SYS_fchmod, SYS_fchmodat};

/* Calls that no compiler needs or that would get around the other walls: Landlock does not check
 * owners, times and attributes; a process that leaves its group outlives it. */
static const uint16_t DENIED[] = {SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
	SYS_kill, SYS_tkill, SYS_setsid, SYS_setpgid, SYS_setpriority, SYS_socket, SYS_socketpair,
	SYS_connect, SYS_bind, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl,
	SYS_add_key, SYS_request_key, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
	SYS_unshare, SYS_setns, SYS_personality, SYS_init_module, SYS_finit_module,
	SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_sethostname,
	SYS_setdomainname, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_acct,
	SYS_quotactl, SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_fanotify_init, SYS_mq_open,
	SYS_shmget, SYS_msgget, SYS_semget, SYS_truncate, SYS_fchown, SYS_fchownat, SYS_utimensat,
	SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr,
	SYS_fremovexattr, SYS_mknodat, SYS_linkat, SYS_symlinkat};

#ifdef SYS_chmod /* older forms, which only older architectures have */
static const uint16_t PRETENDED_OLD[] = {SYS_chmod};
static const uint16_t DENIED_OLD[] = {SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
	SYS_mknod, SYS_link, SYS_symlink, SYS_iopl, SYS_ioperm};
#else
static const uint16_t PRETENDED_OLD[] = {SYS_fchmod}, DENIED_OLD[] = {SYS_ptrace};
#endif

/* Calls from here on have the same number on all architectures, and only these are needed. Others
 * fail as on an older system (ENOSYS), and C libraries fall back. */
enum { NEWER = 424, CLOSE_RANGE = 436, OPENAT2 = 437, FACCESSAT2 = 439 };
static_assert(2 * (COUNT(PRETENDED) + COUNT(DENIED) + COUNT(DENIED_OLD) + 1) + 14 <= 256,
	"room in struct call_filter");
#define NEW_NAMESPACES 0x7e020000u /* CLONE_NEW...: in the flags of clone */

struct call_filter {
	struct sock_filter code[256];
	struct sock_fprog program;
};

static void walls_add_code(struct call_filter *f, const struct sock_filter *code, size_t n)
{
	for (size_t i = 0; i < n; i++)
		f->code[f->program.len++] = code[i];
}

static void walls_add_calls(struct call_filter *f, const uint16_t *calls, size_t n, uint32_t answer)
{
	for (size_t i = 0; i < n; i++)
		walls_add_code(f,
			(struct sock_filter[]){BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1),
				BPF_STMT(BPF_RET | BPF_K, answer)},
			2);
}

static bool shut_calls(void)
{
	static const struct sock_filter FIRST[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, NEWER, 0, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLOSE_RANGE, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OPENAT2, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FACCESSAT2, 1, 0),
		/* so do all x32 calls */
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)};
	static const struct sock_filter LAST[] = {
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)};
	struct call_filter f = {.program = {0, f.code}};

	walls_add_code(&f, FIRST, COUNT(FIRST));
	walls_add_calls(&f, PRETENDED, COUNT(PRETENDED), SECCOMP_RET_ERRNO);
	walls_add_calls(&f, PRETENDED_OLD, COUNT(PRETENDED_OLD), SECCOMP_RET_ERRNO);
	walls_add_calls(&f, DENIED, COUNT(DENIED), SECCOMP_RET_ERRNO | EPERM);
	walls_add_calls(&f, DENIED_OLD, COUNT(DENIED_OLD), SECCOMP_RET_ERRNO | EPERM);
	walls_add_code(&f, LAST, COUNT(LAST));
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &f.program) == 0;
}

int walls_enter(const struct walls *w)
{
	walls_limit(RLIMIT_CORE, 0);
	if (w->file_bytes)
		walls_limit(RLIMIT_FSIZE, w->file_bytes);
	if (w->cpu_s)
		walls_limit(RLIMIT_CPU, w->cpu_s);
	walls_hide(w);
	errno = EPERM;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && drop_capabilities() &&
			       shut_files(w) && shut_calls()
		       ? 0
		       : errno;
}
