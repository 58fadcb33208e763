/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.hpp: one function per tile op, of up to eight operands; types given as template arguments are
 * taken and not needed, values given so (atomic, mask, phase, split ...) become operands.
 */
#pragma once

#include "incore/tile.hpp"

namespace incore
{
enum op_id {
#define INCORE_OP(NAME, PIPE, KIND, ROLES) OP_##NAME,
#include "incore/ops.inc"
#undef INCORE_OP
	OP_COUNT_PLAIN,
	/* ops with a form of their own */
	OP_TASSIGN = OP_COUNT_PLAIN,
	OP_TMRGSORT,
	OP_TPUSH,
	OP_TPOP,
	OP_TFREE,
	OP_TALLOC,
	OP_TNOTIFY,
	OP_TWAIT,
	OP_TPUT,
	OP_TPUT_ASYNC,
	OP_COUNT
};

inline pto::RecordEvent put(op_id op, site s, const arg (&v)[8])
{
	record(op, s, v, 8);
	return {};
}

inline pto::RecordEvent put(
	op_id op, site s, const arg (&v)[8], const arg &t0, const arg &t1 = arg())
{
	const arg all[10] = {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], t0, t1};

	record(op, s, all, 10);
	return {};
}
} // namespace incore

#define INCORE_PARAMS                                                                              \
	::incore::arg a, ::incore::arg b = {}, ::incore::arg c = {}, ::incore::arg d = {},         \
				       ::incore::arg e = {}, ::incore::arg f = {},                 \
				       ::incore::arg g = {}, ::incore::arg h = {},                 \
				       ::incore::site s = INCORE_HERE
#define INCORE_FORM(NAME, TEMPLATE, ...)                                                           \
	TEMPLATE inline RecordEvent NAME(INCORE_PARAMS)                                            \
	{                                                                                          \
		return ::incore::put(                                                              \
			::incore::OP_##NAME, s, {a, b, c, d, e, f, g, h}, ##__VA_ARGS__);          \
	}
#define INCORE_T(...) template <__VA_ARGS__>
#define INCORE_FUNCTION(NAME)                                                                      \
	INCORE_FORM(NAME, )                                                                        \
	INCORE_FORM(NAME, INCORE_T(class T0, class... Ts))                                         \
	INCORE_FORM(NAME, INCORE_T(auto V, class... Ts), ::incore::arg(V))                         \
	INCORE_FORM(NAME, INCORE_T(class T0, auto V), ::incore::arg(V))                            \
	INCORE_FORM(NAME, INCORE_T(class T0, class T1, auto V), ::incore::arg(V))                  \
	INCORE_FORM(NAME, INCORE_T(class T0, class T1, auto V, auto W), ::incore::arg(V),          \
		::incore::arg(W))                                                                  \
	INCORE_FORM(NAME, INCORE_T(class T0, class T1, class T2, auto V), ::incore::arg(V))        \
	INCORE_FORM(NAME, INCORE_T(class T0, class T1, class T2, auto V, auto W),                  \
		::incore::arg(V), ::incore::arg(W))                                                \
	INCORE_FORM(                                                                               \
		NAME, INCORE_T(class T0, class T1, class T2, class T3, auto V), ::incore::arg(V))  \
	INCORE_FORM(NAME, INCORE_T(class T0, class T1, class T2, class T3, class T4, auto V),      \
		::incore::arg(V))                                                                  \
	INCORE_FORM(NAME,                                                                          \
		INCORE_T(class T0, class T1, class T2, class T3, class T4, class T5, auto V),      \
		::incore::arg(V))

namespace pto
{
#define INCORE_OP(NAME, PIPE, KIND, ROLES) INCORE_FUNCTION(NAME)
#include "incore/ops.inc"
#undef INCORE_OP

INCORE_FUNCTION(TMRGSORT)

inline RecordEvent TSYNC(incore::site s = INCORE_HERE)
{
	return incore::put(incore::OP_TSYNC, s, {{}, {}, {}, {}, {}, {}, {}, {}});
}

/* The place of a tile, or of a view; no op of any pipe. */
inline void TASSIGN(incore::arg what, incore::arg where, incore::site s = INCORE_HERE)
{
	incore::assign(what, where, s);
}
template <auto Address> inline void TASSIGN(incore::arg what, incore::site s = INCORE_HERE)
{
	incore::assign(what, incore::arg(Address), s);
}
} // namespace pto
