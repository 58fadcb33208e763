/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runner.cpp: the program that a kernel is loaded into: `runner KERNEL.so [unsafe]`. It locks
 * itself first, with nothing but its own code in the process, and only then loads the kernel, whose
 * constructors run behind the walls like all the rest of it. It is linked like any program, so that
 * a kernel needs no static libraries; the libraries that a kernel uses are loaded before the lock.
 * Whatever cannot be set up ends the process: there is no half of the walls.
 */
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

namespace
{
enum { FD_REPORT = 6, FD_KERNEL = 7 };
enum { EXIT_STOPPED = 10 };

#if defined(__x86_64__)
/* Numbers of the x32 calls have a bit more, so that none of them is on the list below. */
constexpr uint32_t ARCH = AUDIT_ARCH_X86_64;
uint64_t argument(const mcontext_t &m, int i)
{
	static const int REGISTER[] = {REG_RDI, REG_RSI, REG_RDX};

	return static_cast<uint64_t>(m.gregs[REGISTER[i]]);
}
void set_result(mcontext_t &m, long value)
{
	m.gregs[REG_RAX] = value;
}
#elif defined(__aarch64__)
constexpr uint32_t ARCH = AUDIT_ARCH_AARCH64;
uint64_t argument(const mcontext_t &m, int i)
{
	return m.regs[i];
}
void set_result(mcontext_t &m, long value)
{
	m.regs[0] = static_cast<uint64_t>(value);
}
#else
constexpr uint32_t ARCH = 0; /* no filter is known for it: lock() refuses */
uint64_t argument(const mcontext_t &, int)
{
	return 0;
}
void set_result(mcontext_t &, long)
{
}
#endif

bool is_open; /* the kernel's file was handed to the loader */

[[noreturn]] void end(const char *code, const char *text)
{
	dprintf(FD_REPORT, "%s\n%s", code, text);
	_exit(EXIT_STOPPED);
}

/* There is no open behind the walls. The loader's first one gets the kernel's file, which is open
 * already; the loader's fstat is the form of it that takes a path, so only its descriptor is used. */
void on_call(int, siginfo_t *info, void *context)
{
	mcontext_t &m = static_cast<ucontext_t *>(context)->uc_mcontext;
	const int saved = errno;
	long result = -EPERM;

	if (info->si_syscall == SYS_newfstatat) {
		result = syscall(SYS_fstat, static_cast<int>(argument(m, 0)), argument(m, 2));
		result = result < 0 ? -errno : result;
	} else if (!is_open) {
		is_open = true;
		result = FD_KERNEL;
	}
	set_result(m, result);
	errno = saved;
}

bool answer_calls()
{
	struct sigaction a;

	memset(&a, 0, sizeof(a));
	a.sa_sigaction = on_call;
	a.sa_flags = SA_SIGINFO;
	return sigaction(SIGSYS, &a, nullptr) == 0;
}

bool drop_capabilities()
{
	__user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	__user_cap_data_struct none[2];

	memset(none, 0, sizeof(none));
	return syscall(SYS_capset, &head, none) == 0;
}

/* Landlock without a rule: no file, no port, no abstract socket, no signal to others. */
bool shut_files()
{
	constexpr long CREATE = 444, RESTRICT = 446, VERSION = 1;
	const long abi = syscall(CREATE, nullptr, 0, VERSION);
	const uint64_t handled[3] = {abi >= 5	? 0xffffu
				     : abi >= 3 ? 0x7fffu
				     : abi == 2 ? 0x3fffu
						: 0x1fffu,
		abi >= 4 ? 3u : 0u, abi >= 6 ? 3u : 0u};
	const long rules = abi < 1 ? -1 : syscall(CREATE, handled, sizeof(handled), 0);

	return rules >= 0 && syscall(RESTRICT, rules, 0) == 0 &&
	       close(static_cast<int>(rules)) == 0;
}

/* The process can compute, write to what is open, and end: no files, no network, no other
 * processes, no signals but to itself. A call of another architecture kills it. */
bool shut_calls()
{
	static const long ALLOWED[] = {SYS_read, SYS_write, SYS_writev, SYS_pread64, SYS_close,
		SYS_fstat, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk,
		SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
		SYS_setitimer, SYS_futex, SYS_getpid, SYS_gettid, SYS_exit, SYS_exit_group,
		SYS_getrandom, SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep,
		SYS_sched_yield};
	static const long ANSWERED[] = {
#ifdef SYS_open
		SYS_open,
#endif
		SYS_openat, SYS_newfstatat};
	const auto self = static_cast<uint32_t>(getpid());
	sock_filter code[96];
	sock_fprog program = {0, code};
	const auto add = [&](sock_filter f) { code[program.len++] = f; };
	const auto answer = [&](long number, uint32_t how) {
		add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 1));
		add(BPF_STMT(BPF_RET | BPF_K, how));
	};

	static_assert(2 * (sizeof(ALLOWED) + sizeof(ANSWERED)) / sizeof(long) + 9 <= 96,
		"room for the filter");
	add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)));
	add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0));
	add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
	for (long number : ALLOWED)
		answer(number, SECCOMP_RET_ALLOW);
	for (long number : ANSWERED)
		answer(number, SECCOMP_RET_TRAP);
	add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 3)); /* else to the last line */
	add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)));
	answer(self, SECCOMP_RET_ALLOW);
	add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
	return ARCH != 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

void lock()
{
	if (!answer_calls() || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		!drop_capabilities() || !shut_files() || !shut_calls())
		end("no-walls", "this system does not let the kernel be locked in");
}
} // namespace

int main(int argc, char **argv)
{
	void *kernel, *run = nullptr;

	if (argc < 2)
		return EXIT_STOPPED;
	if (argc < 3)
		lock();
	kernel = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (kernel)
		run = dlsym(kernel, "incore_main");
	if (!run)
		end("crash", dlerror());
	return reinterpret_cast<int (*)()>(run)();
}
