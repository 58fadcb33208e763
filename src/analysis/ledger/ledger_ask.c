/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_ask.c: what a user asks for by its name: another grid, blocks, tile, elements a thread. */
#include "analysis/ledger/ledger_internal.h"

#define LANES 32

static bool cannot(struct ledger_change *c, const char *why)
{
	c->counted = why;
	return false;
}

/* The slower of both ends is what such a change costs: the composition of change.h only gains. */
static void take_loss(const struct ledger *l, double factor, struct ledger_change *c)
{
	if (factor <= 1)
		return;
	c->gain = c->least = (1 - factor) * l->window_cyc / l->elapsed_cyc;
	c->most = 0;
}

static bool ask_grid(struct ledger *l, double blocks, struct ledger_change *c)
{
	if (l->blocks <= 0 || l->sms <= 0)
		return cannot(c, "the capture does not say how many blocks and SMs there were");
	effect_grid(l, blocks, c);
	ledger_estimate(l, c);
	take_loss(l, c->worst.latency, c);
	c->counted = arena_printf(
		&l->arena, "%.0f blocks on %.0f SMs, %.0f asked for", l->blocks, l->sms, blocks);
	return c->counted != NULL;
}

static bool ask_block(struct ledger *l, double threads, struct ledger_change *c)
{
	double by = ceil(threads / LANES) / greater(1, l->warps_per_block);

	if (threads > 1024)
		return cannot(c, "no block has more than 1,024 threads");
	if (!effect_blocks(l, by, c))
		return cannot(c, "not the number of blocks limits the warps of an SM: blocks of "
				 "another size leave as many of them");
	ledger_estimate(l, c);
	take_loss(l, c->worst.latency, c);
	c->counted = arena_printf(&l->arena,
		"blocks of %.0f threads: %.0f blocks fit on an SM, whatever their size",
		l->block_threads, l->blocks_per_sm);
	return c->counted != NULL;
}

static bool ask_tile(struct ledger *l, double side, struct ledger_change *c)
{
	if (ledger_has_tile(l))
		effect_tile(l, side, c);
	else if (ledger_has_reuse(l))
		effect_reuse(l, side, c);
	else
		return cannot(c,
			"there is no tile: nothing is read from shared memory for "
			"multiply-adds, and matrix instructions have no loads of operands");
	ledger_estimate(l, c);
	c->counted = arena_printf(&l->arena, "1/%g of the operands are read an operation", side);
	return c->counted != NULL;
}

static bool ask_elements(struct ledger *l, double times, struct ledger_change *c)
{
	if (!(l->wait[LEDGER_LONG].exposed > 0))
		return cannot(c, "nobody waits for loads: more elements a thread shorten no wait");
	effect_in_flight(l, times, c);
	ledger_estimate(l, c);
	c->counted = arena_printf(&l->arena, "%g times as many loads in flight", times);
	return c->counted != NULL;
}

bool ledger_ask(struct ledger *l, enum ledger_intent intent, double n, struct ledger_change *out)
{
	*out = (struct ledger_change){.best = effect_none(), .worst = effect_none()};
	if (l->missing)
		return cannot(out, l->missing);
	switch (intent) {
	case LEDGER_GRID:
		return ask_grid(l, n, out);
	case LEDGER_BLOCK:
		return ask_block(l, n, out);
	case LEDGER_TILE:
		return ask_tile(l, n, out);
	default:
		return ask_elements(l, n, out);
	}
}
