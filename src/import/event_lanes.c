/* SPDX-License-Identifier: Apache-2.0 */
/* event_lanes.c: examines the lanes of the first events for words that only Ascend's tools use. */
#include "import/event_lanes.h"

#include "base/mem.h"
#include "codec/trace_events.h"
#include "isa/ascend.h"

/* "core0.veccore1, kernel, estimate": a plain "core0" may come from any tool. */
static bool is_unit(struct str name)
{
	ptrdiff_t comma = str_find(name, ", ");
	struct ascend_unit u;

	if (comma > 0)
		name.n = (size_t)comma;
	return ascend_unit_of(name, &u) && u.kind != ASCEND_PLAIN;
}

/* Other tools have lanes for events, marks and warps, too. */
static bool event_lanes_is_pipe(struct str lane)
{
	ptrdiff_t cut = str_rfind_char(lane, '_');
	enum ascend_pipe p = ascend_pipe_of_lane(lane);

	if (p == PIPE_NONE && cut > 0)
		p = ascend_pipe_of_lane(str_sub(lane, 0, (size_t)cut));
	return p != PIPE_NONE && p != PIPE_ALL && p != PIPE_EVENT && p != PIPE_USERMARK &&
	       !ascend_is_warp(p);
}

static bool is_ascend(const struct trace_event *ev)
{
	return ev->pc_addr.n || is_unit(ev->pid) || event_lanes_is_pipe(ev->tid) ||
	       (ev->ph == 'M' && (is_unit(ev->arg_name) || event_lanes_is_pipe(ev->arg_name)));
}

enum event_lanes event_lanes_of(const uint8_t *head, size_t n)
{
	char *padded = n && (head[0] == '{' || head[0] == '[' || strchr(" \t\r\n", head[0]))
			       ? mem_zalloc(n + JSON_PAD, 1)
			       : NULL;
	enum event_lanes lanes = LANES_NONE;
	struct trace_events r;
	struct trace_event ev;

	if (!padded)
		return LANES_NONE;
	memcpy(padded, head, n);
	trace_events_init(&r, padded, n, NULL);
	while (lanes != LANES_ASCEND && trace_events_next(&r, &ev)) {
		if (is_ascend(&ev))
			lanes = LANES_ASCEND;
		else if (ev.ph && (ev.ph == 'M' || ev.has_ts) && (ev.pid.n || ev.tid.n))
			lanes = LANES_OTHER;
	}
	trace_events_deinit(&r);
	mem_free(padded);
	return lanes;
}
