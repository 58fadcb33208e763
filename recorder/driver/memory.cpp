/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.cpp: global memory as the kernel sees it. Each slot has a window of addresses of its own;
 * only what was supplied is mapped there, ending at a page's end, so that any other touch faults
 * and the fault's address names slot and offset. The argument array is trapped, too, where the
 * processor can run one instruction at a time: so every slot that is read is known.
 */
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/ucontext.h>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>

#include "driver/driver.hpp"
#include "intrinsic.h"
#include "tensor.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace incore
{
namespace
{
constexpr uint64_t WINDOWS = UINT64_C(0x100000000000); /* slot i: + i * WINDOW */
constexpr uint64_t WINDOW = UINT64_C(1) << 36;
constexpr uint64_t MIDDLE = WINDOW / 4; /* a buffer ends or begins near here: room on both sides */
constexpr uint64_t PAGE = 65536;	/* a multiple of any page size in use */
constexpr uint64_t MISSING = UINT64_C(0x200000000000); /* what a slot that nobody gave points to */
constexpr uint64_t CHIP = 16 << 20; /* addresses below are those of buffers on the chip */

#ifdef __x86_64__
constexpr bool CAN_TRAP = true;
#else
constexpr bool CAN_TRAP = false;
#endif

alignas(64) ChipTensor descriptors[OPSTREAM_SLOTS];
LocalContext local_context;
GlobalContext global_context;
int64_t *args_page;
bool read_slots[OPSTREAM_SLOTS];

/* What tile ops stored, in granules of 32 bytes: a mask for every 2,048 bytes of a slot. */
constexpr uint64_t GRANULE = 32, MASKED = 64 * GRANULE;
std::unordered_map<uint64_t, uint64_t> stored[OPSTREAM_SLOTS];
/* Lines of global memory that scalar code has touched: its cache has them, none is evicted. */
constexpr uint64_t LINE = 64;
std::unordered_set<uint64_t> lines;
/* What scalar code stored to a slot that is blank, byte by byte: a mask for every 64 bytes. */
std::unordered_map<uint64_t, uint64_t> written[OPSTREAM_SLOTS];

/* Pages opened for the one instruction that runs now. */
bool is_args_open;
slot *open_slots[4];

uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

slot &owner_of(slot &s)
{
	return s.owner < 0 ? s : the_job.slots[s.owner];
}

/* Every slot that sees the buffer of s, itself included. */
template <typename F> void each_of_buffer(slot &s, F visit)
{
	if (!s.is_shared)
		return visit(s);
	for (slot &t : the_job.slots)
		if (t.is_given && (t.rec.flags & SLOT_TENSOR) && &owner_of(t) == &owner_of(s))
			visit(t);
}

/* Bytes that one slot of a buffer supplies, or may write, are there for all of its slots. */
void find_mapped()
{
	for (slot &s : the_job.slots)
		if (s.is_given && (s.rec.flags & SLOT_TENSOR) &&
			(s.rec.flags & (SLOT_PAYLOAD | SLOT_OUTPUT)))
			owner_of(s).is_mapped = true;
	for (slot &s : the_job.slots)
		s.is_mapped = owner_of(s).is_mapped;
}

/* A shared buffer is one memory seen in the window of each of its slots, so that the slot of an
 * access stays known. The owner comes first; the others are second views of its pages, which
 * needs no descriptor. */
void *map_room(slot &s, uint64_t base, uint64_t room)
{
	const int kind = s.is_shared ? MAP_SHARED : MAP_PRIVATE;

	if (s.owner >= 0)
		return mremap(reinterpret_cast<void *>(WINDOWS + s.owner * WINDOW + MIDDLE), 0,
			room, MREMAP_MAYMOVE | MREMAP_FIXED, reinterpret_cast<void *>(base));
	return mmap(reinterpret_cast<void *>(base), room, PROT_READ | PROT_WRITE,
		kind | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

void protect(const slot &s, int how)
{
	mprotect(reinterpret_cast<void *>(WINDOWS + s.rec.slot * WINDOW + MIDDLE),
		round_up(s.rec.bytes ? s.rec.bytes : 1, PAGE), how);
}

bool is_stored(const slot &s, uint64_t from, uint64_t to)
{
	const auto &masks = stored[s.rec.slot];

	for (uint64_t g = from / GRANULE; g * GRANULE < to; g++) {
		auto it = masks.find(g * GRANULE / MASKED);

		if (it != masks.end() && it->second >> g % 64 & 1)
			return true;
	}
	return false;
}

void mark_stored(slot &s, uint64_t from, uint64_t to)
{
	for (uint64_t g = from / GRANULE; g * GRANULE < to;) {
		uint64_t word = g / 64, last = (to - 1) / GRANULE, low = g % 64;
		uint64_t high = last / 64 == word ? last % 64 : 63;

		stored[s.rec.slot][word] |=
			(high - low == 63 ? ~UINT64_C(0) : ((UINT64_C(1) << (high - low + 1)) - 1))
			<< low;
		g = (word + 1) * 64;
	}
}

bool is_written(const slot &s, uint64_t from, uint64_t to)
{
	const auto &masks = written[s.rec.slot];

	for (; from < to; from++) {
		auto it = masks.find(from / 64);

		if (it == masks.end() || !(it->second >> from % 64 & 1))
			return false;
	}
	return true;
}

void map_slot(slot &s)
{
	uint64_t base = WINDOWS + s.rec.slot * WINDOW + MIDDLE;
	uint64_t bytes = s.rec.bytes ? s.rec.bytes : 1, room = round_up(bytes, PAGE);

	/* 64-byte aligned, the last byte as near to the end of its page as that allows */
	s.start = reinterpret_cast<uint8_t *>(base + room - round_up(bytes, 64));
	if (!s.is_mapped)
		return;
	if (room > WINDOW / 2 || map_room(s, base, room) != reinterpret_cast<void *>(base))
		stop("no-memory", "slot %u%s%s needs %llu bytes, more than the memory limit leaves",
			s.rec.slot, s.name.empty() ? "" : " ", s.name.c_str(),
			static_cast<unsigned long long>(bytes));
}

uint64_t next_random(uint64_t &state)
{
	uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* One element of a slot as bytes; integers are cut, floats rounded. */
unsigned put_element(uint8_t *p, unsigned dtype, double v)
{
	const int64_t i = static_cast<int64_t>(v);
	const float f = static_cast<float>(v);

	switch (dtype) {
	case DT_F32:
		memcpy(p, &f, 4);
		return 4;
	case DT_F64:
		memcpy(p, &v, 8);
		return 8;
	case DT_F16:
	case DT_BF16: {
		uint16_t h = dtype == DT_F16 ? to_f16(f) : to_bf16(f);

		memcpy(p, &h, 2);
		return 2;
	}
	case DT_I64:
	case DT_U64:
		memcpy(p, &i, 8);
		return 8;
	case DT_I32:
	case DT_U32:
		memcpy(p, &i, 4);
		return 4;
	case DT_I16:
	case DT_U16:
		memcpy(p, &i, 2);
		return 2;
	default:
		memcpy(p, &i, 1);
		return 1;
	}
}

bool is_float(unsigned dtype)
{
	return dtype == DT_F32 || dtype == DT_F16 || dtype == DT_BF16 || dtype == DT_F64;
}

void fill_slot(slot &s)
{
	uint64_t state = s.seed, at = 0;
	uint8_t element[8];

	if (s.has_data) {
		while (at < s.data_bytes) {
			ssize_t n = pread(FD_PAYLOAD, s.start + at, s.data_bytes - at,
				static_cast<off_t>(s.data_off + at));

			if (n <= 0)
				stop("truncated", "the payload of slot %u ends after %llu bytes",
					s.rec.slot, static_cast<unsigned long long>(at));
			at += static_cast<uint64_t>(n);
		}
		return;
	}
	if (s.fill != 1 && s.fill != 2)
		return; /* zero: as mapped */
	while (at < s.rec.bytes) {
		/* random: floats in [-1, 1), integers 0 or 1, so that an index stays inside */
		double v = s.value;
		unsigned n;

		if (s.fill == 1) {
			uint64_t r = next_random(state);

			v = is_float(s.rec.dtype) ? static_cast<double>(r >> 40) / (1 << 23) - 1
						  : static_cast<double>(r & 1);
		}
		n = put_element(element, s.rec.dtype, v);
		n = n < s.rec.bytes - at ? n : static_cast<unsigned>(s.rec.bytes - at);
		memcpy(s.start + at, element, n);
		at += n;
	}
}

void empty_slot(slot &s)
{
	uint64_t room = round_up(s.rec.bytes ? s.rec.bytes : 1, PAGE);

	madvise(reinterpret_cast<void *>(WINDOWS + s.rec.slot * WINDOW + MIDDLE), room,
		s.is_shared ? MADV_REMOVE : MADV_DONTNEED);
}

bool is_dense(const op_slot &s)
{
	uint64_t want = 1;

	for (uint32_t i = s.ndims; i-- > 0; want *= s.shapes[i])
		if (s.strides[i] != want)
			return false;
	return true;
}

void describe(slot &s)
{
	/* the runtime's numbers of dtypes, by ours */
	static const uint8_t CODES[DT_COUNT] = {
		15, 0, 1, 6, 4, 5, 3, 9, 2, 10, 7, 8, 12, 15, 13, 15, 14, 15, 15, 11};
	ChipTensor &d = descriptors[s.rec.slot];

	d.buffer.addr = reinterpret_cast<uintptr_t>(s.start);
	d.buffer.size = s.rec.bytes;
	d.owner_task_id = UINT64_MAX;
	d.start_offset = s.rec.start_offset;
	d.ndims = s.rec.ndims;
	d.dtype = CODES[s.rec.dtype < DT_COUNT ? s.rec.dtype : unsigned(DT_NONE)];
	d.is_contiguous = is_dense(s.rec);
	d.address_space = 1;
	d.extent = 1;
	for (unsigned i = 0; i < 5; i++) {
		d.shapes[i] = i < s.rec.ndims ? s.rec.shapes[i] : 1;
		d.strides[i] = i < s.rec.ndims ? s.rec.strides[i] : 1;
		d.extent += static_cast<uint64_t>(d.shapes[i] ? d.shapes[i] - 1 : 0) * d.strides[i];
	}
}

[[noreturn]] void no_value(const slot &s, int64_t offset)
{
	stop("no-value", "the kernel %s byte %lld of slot %u%s%s, whose values nobody supplied, %s",
		CAN_TRAP ? "reads" : "reads or writes", static_cast<long long>(offset), s.rec.slot,
		s.name.empty() ? "" : " ", s.name.c_str(), last_op());
}

void name_fault(uint64_t at)
{
	int64_t offset = 0;
	slot *s = slot_of(reinterpret_cast<void *>(at), &offset);

	if (at >= MISSING && at < MISSING + OPSTREAM_SLOTS * WINDOW)
		stop("missing-argument", "the kernel follows slot %u, which no argument fills, %s",
			static_cast<unsigned>((at - MISSING) / WINDOW), last_op());
	if (at < CHIP && at >= 4096)
		stop("chip-address",
			"the kernel reads address 0x%llx of the chip as memory, %s; this model "
			"holds no tile "
			"values",
			static_cast<unsigned long long>(at), last_op());
	if (!s)
		stop("crash", "the kernel touches address 0x%llx, which belongs to no slot, %s",
			static_cast<unsigned long long>(at), last_op());
	if (!s->is_mapped && offset >= 0 && static_cast<uint64_t>(offset) < s->rec.bytes)
		no_value(*s, offset);
	stop("out-of-bounds",
		"the kernel touches byte %lld of slot %u%s%s, whose buffer has %llu bytes, %s",
		static_cast<long long>(offset), s->rec.slot, s->name.empty() ? "" : " ",
		s->name.c_str(), static_cast<unsigned long long>(s->rec.bytes), last_op());
}

#ifdef __x86_64__
constexpr greg_t TRAP_FLAG = 0x100;
constexpr greg_t WRITE_FAULT = 2; /* of the page fault's error code */

/* How many bytes the instruction at p touches. Kernels are compiled without optimisation and for the
 * oldest processor: no others occur than are told apart here. */
unsigned touched_bytes(const uint8_t *p)
{
	bool is_16 = false, is_64 = false, has_f2 = false, has_f3 = false;

	for (; *p == 0x66 || *p == 0xf0 || *p == 0xf2 || *p == 0xf3; p++) {
		is_16 |= *p == 0x66;
		has_f2 |= *p == 0xf2;
		has_f3 |= *p == 0xf3;
	}
	if ((*p & 0xf0) == 0x40)
		is_64 = *p++ & 8;
	if (*p == 0x0f) {
		switch (p[1]) {
		case 0xb6: /* movzx, movsx */
		case 0xbe:
			return 1;
		case 0xb7:
		case 0xbf:
			return 2;
		case 0x2a: /* from an integer */
		case 0x6e:
		case 0x7e:
			return is_64 || (p[1] == 0x7e && has_f3) ? 8 : 4;
		case 0xd6:
			return 8;
		default: /* SSE: single, double, or all of the register */
			return has_f3 ? 4 : has_f2 ? 8 : p[1] == 0xaf ? (is_64 ? 8 : 4) : 16;
		}
	}
	if (*p == 0x63)
		return 4;
	if ((*p < 0x40 || *p == 0x80 || *p == 0x84 || *p == 0x88 || *p == 0x8a || *p == 0xc6 ||
		    *p == 0xf6 || *p == 0xfe) &&
		!(*p & 1))
		return 1;
	return is_64 ? 8 : is_16 ? 2 : 4;
}

/* A read of the argument array: let that one instruction through, noting the slot. */
bool is_args_read(uint64_t at, void *context)
{
	uint64_t base = reinterpret_cast<uint64_t>(args_page);
	unsigned i = static_cast<unsigned>((at - base) / 8);

	if (at < base || at >= base + PAGE)
		return false;
	if (i >= OPSTREAM_SLOTS)
		stop("out-of-bounds", "the kernel reads argument %u; there are %d slots, %s", i,
			OPSTREAM_SLOTS, last_op());
	read_slots[i] = true;
	if (i < 48 && !the_job.slots[i].is_given)
		stop("missing-argument", "the kernel reads slot %u, which no argument fills, %s", i,
			last_op());
	mprotect(args_page, PAGE, PROT_READ | PROT_WRITE);
	is_args_open = true;
	static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
	return true;
}

/* Storing to a buffer that nobody supplied needs no value of it: from now on it is there, and blank. */
void map_blank(slot &s)
{
	each_of_buffer(s, [](slot &t) {
		t.is_mapped = t.is_blank = t.is_guarded = true;
		map_slot(t);
	});
	each_of_buffer(s, [](slot &t) { protect(t, PROT_NONE); });
}

void mark_written(slot &s, uint64_t from, unsigned n)
{
	each_of_buffer(s, [=](slot &t) {
		for (uint64_t i = from; i < from + n; i++)
			written[t.rec.slot][i / 64] |= UINT64_C(1) << i % 64;
	});
}

/* Scalar code touches a slot: what it may, it does, and it is recorded; what tile ops stored, or nobody
 * supplied, it may not read. */
bool is_guarded_touch(uint64_t at, void *context)
{
	mcontext_t &m = static_cast<ucontext_t *>(context)->uc_mcontext;
	const bool is_write = m.gregs[REG_ERR] & WRITE_FAULT;
	int64_t offset = 0;
	slot *s = slot_of(reinterpret_cast<void *>(at), &offset);

	if (!s || offset < 0 || static_cast<uint64_t>(offset) >= s->rec.bytes)
		return false;
	if (!s->is_mapped && is_write)
		map_blank(*s);
	if (!s->is_guarded)
		return false;
	if (s->is_blank && is_write)
		mark_written(*s, static_cast<uint64_t>(offset),
			touched_bytes(reinterpret_cast<const uint8_t *>(m.gregs[REG_RIP])));
	else if (s->is_blank &&
		 !is_written(*s, static_cast<uint64_t>(offset), static_cast<uint64_t>(offset) + 1))
		no_value(*s, offset);
	if (!is_write &&
		is_stored(*s, static_cast<uint64_t>(offset), static_cast<uint64_t>(offset) + 1))
		stop("no-value",
			"the kernel reads byte %lld of slot %u%s%s, which a tile op stored, %s; "
			"this model "
			"computes no tile values",
			static_cast<long long>(offset), s->rec.slot, s->name.empty() ? "" : " ",
			s->name.c_str(), last_op());
	for (slot *&open : open_slots)
		if (!open || open == s) {
			open = s;
			scalar_access(*s, offset,
				touched_bytes(reinterpret_cast<const uint8_t *>(m.gregs[REG_RIP])),
				is_write, lines.insert(at / LINE).second);
			protect(*s, PROT_READ | PROT_WRITE);
			m.gregs[REG_EFL] |= TRAP_FLAG;
			return true;
		}
	return false;
}

void on_trap(int, siginfo_t *, void *context)
{
	greg_t &flags = static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_EFL];

	if (!(flags & TRAP_FLAG))
		stop("crash", "the kernel hit a breakpoint, %s", last_op());
	flags &= ~TRAP_FLAG;
	if (is_args_open)
		mprotect(args_page, PAGE, PROT_NONE);
	is_args_open = false;
	for (slot *&open : open_slots) {
		if (open)
			protect(*open, PROT_NONE);
		open = nullptr;
	}
}
#else
bool is_args_read(uint64_t, void *)
{
	return false;
}

bool is_guarded_touch(uint64_t, void *)
{
	return false;
}

void on_trap(int, siginfo_t *, void *)
{
	stop("crash", "the kernel hit a breakpoint, %s", last_op());
}
#endif

void on_fault(int, siginfo_t *info, void *context)
{
	uint64_t at = reinterpret_cast<uint64_t>(info->si_addr);

	if (!is_args_read(at, context) && !is_guarded_touch(at, context))
		name_fault(at);
}

void on_signal(int number, siginfo_t *, void *)
{
	if (number == SIGALRM || number == SIGXCPU)
		stop("too-long", "the kernel did not end within %u s, %s", the_job.seconds,
			last_op());
	stop("crash", "the kernel ended with signal %d (%s), %s", number, strsignal(number),
		last_op());
}

void handle(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction a;

	memset(&a, 0, sizeof(a));
	a.sa_sigaction = handler;
	a.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigaction(number, &a, nullptr);
}
} // namespace

slot *slot_of(const void *p, int64_t *offset)
{
	uint64_t at = reinterpret_cast<uint64_t>(p), i = (at - WINDOWS) / WINDOW;

	if (at < WINDOWS || i >= OPSTREAM_SLOTS || !the_job.slots[i].is_given ||
		!(the_job.slots[i].rec.flags & SLOT_TENSOR))
		return nullptr;
	*offset = static_cast<int64_t>(at - reinterpret_cast<uint64_t>(the_job.slots[i].start));
	return &the_job.slots[i];
}

void device_wrote(const op_opnd &view, int64_t offset)
{
	slot &s = the_job.slots[view.slot];
	uint64_t rows = 1, run = view.stride[4] == 1 ? view.shape[4] : 1;

	for (uint32_t n : view.shape)
		rows *= n;
	if (rows == 0 || !s.is_mapped || !CAN_TRAP)
		return;
	each_of_buffer(s, [](slot &t) {
		if (!t.is_guarded)
			protect(t, PROT_NONE);
		t.is_guarded = true;
	});
	for (uint64_t i = 0; i < rows; i += run) {
		uint64_t rest = i, from, to;
		int64_t elem = 0;

		for (int d = 4; d >= 0; d--) {
			elem += static_cast<int64_t>(rest % view.shape[d]) * view.stride[d];
			rest /= view.shape[d];
		}
		from = static_cast<uint64_t>(offset + elem * view.bits / 8);
		to = from + (run * view.bits + 7) / 8;
		each_of_buffer(s, [=](slot &t) {
			if (to <= t.rec.bytes)
				mark_stored(t, from, to);
		});
	}
}

bool slot_bytes(slot &s, int64_t offset, unsigned n, void *out)
{
	uint64_t from = static_cast<uint64_t>(offset);

	if (!s.is_mapped || offset < 0 || from + n > s.rec.bytes || is_stored(s, from, from + n) ||
		(s.is_blank && !is_written(s, from, from + n)))
		return false;
	if (s.is_guarded)
		protect(s, PROT_READ | PROT_WRITE);
	memcpy(out, s.start + from, n);
	if (s.is_guarded)
		protect(s, PROT_NONE);
	return true;
}

void forget_lines(const void *p)
{
	lines.erase(reinterpret_cast<uint64_t>(p) / LINE);
}

bool was_read(unsigned i)
{
	return CAN_TRAP ? read_slots[i] : true;
}

void map_slots()
{
	find_mapped();
	for (slot &s : the_job.slots)
		if (s.is_given && (s.rec.flags & SLOT_TENSOR)) {
			map_slot(s);
			describe(s);
		}
}

/* Scalar stores of one run must not be seen by the next: every run starts from the arguments. */
void fill_slots()
{
	for (slot &s : the_job.slots)
		if (s.is_given && s.is_mapped) {
			if (s.is_guarded)
				protect(s, PROT_READ | PROT_WRITE);
			s.is_guarded = s.is_blank;
			stored[s.rec.slot].clear();
			written[s.rec.slot].clear();
			empty_slot(s);
			if (s.is_blank)
				protect(s, PROT_NONE);
		}
	for (slot &s : the_job.slots)
		if (s.is_given && s.is_mapped && !s.is_blank)
			fill_slot(s);
	lines.clear();
	for (slot &s : the_job.slots)
		if (CAN_TRAP && s.is_given && s.is_mapped && (s.rec.flags & SLOT_TENSOR)) {
			s.is_guarded = true; /* scalar loads and stores are ops, too */
			protect(s, PROT_NONE);
		}
}

int64_t *make_args()
{
	void *page =
		mmap(nullptr, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		stop("no-memory", "no memory for the argument array");
	args_page = static_cast<int64_t *>(page);
	for (unsigned i = 0; i < OPSTREAM_SLOTS; i++) {
		const slot &s = the_job.slots[i];

		args_page[i] =
			!s.is_given ? static_cast<int64_t>(MISSING + i * WINDOW)
			: s.rec.flags & SLOT_TENSOR
				? static_cast<int64_t>(reinterpret_cast<uintptr_t>(&descriptors[i]))
				: static_cast<int64_t>(s.rec.value);
	}
	args_page[SLOT_LOCAL_CONTEXT] =
		static_cast<int64_t>(reinterpret_cast<uintptr_t>(&local_context));
	args_page[SLOT_GLOBAL_CONTEXT] =
		static_cast<int64_t>(reinterpret_cast<uintptr_t>(&global_context));
	if (CAN_TRAP)
		mprotect(args_page, PAGE, PROT_NONE);
	return args_page;
}

void set_contexts()
{
	local_context = LocalContext();
	local_context.block_idx = static_cast<int32_t>(the_run.block_idx);
	local_context.block_num = static_cast<int32_t>(the_run.block_num);
	local_context.async_ctx.task_token = UINT64_MAX;
	global_context = GlobalContext();
	global_context.sub_block_id = static_cast<int32_t>(the_run.lane);
	memset(read_slots, 0, sizeof(read_slots));
}

void install_handlers()
{
	static char stack[65536];
	stack_t alternative;
	struct itimerval limit;

	memset(&alternative, 0, sizeof(alternative));
	alternative.ss_sp = stack;
	alternative.ss_size = sizeof(stack);
	sigaltstack(&alternative, nullptr);
	handle(SIGSEGV, on_fault);
	handle(SIGBUS, on_fault);
	handle(SIGTRAP, on_trap);
	for (int number : {SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGXCPU})
		handle(number, on_signal);
	memset(&limit, 0, sizeof(limit));
	limit.it_value.tv_sec = the_job.seconds;
	setitimer(ITIMER_REAL, &limit, nullptr);
}
} // namespace incore
